import KelvinBasics

/// The rule by which output numbers become the scores of classes.
struct HeadScores: Hashable {
  var activation: DetectionHead.Activation
  var background: DetectionHead.Background

  /// The most confident class of a row.
  struct Best {
    var row: Int
    /// The index of the class, not counting the background.
    var label: Int
    var confidence: Float
  }

  /// Returns the rows whose best class reaches a confidence, in their order. Of equally confident classes the first is
  /// chosen. NaN scores are never chosen.
  func best(of part: HeadPart, in arrays: [[Float]], from least: Float) -> [Best] {
    part.classes.map { named(part, $0, in: arrays, from: least) } ?? scored(part, in: arrays, from: least)
  }

  /// Returns the scores of all classes in a row, without the background.
  func scores(of part: HeadPart, row: Int, in arrays: [[Float]]) -> [Float] {
    let raw = (0..<part.scores.columns).map { arrays[part.scores.array][part.scores.place(row, $0)] }
    let presence = presence(part, row, arrays)
    return activated(raw)[kept(raw.count)].map { Float(Double($0) * presence) }
  }

  private func named(_ part: HeadPart, _ classes: HeadRows, in arrays: [[Float]], from least: Float) -> [Best] {
    (0..<part.boxes.count).compactMap { row in
      let number = arrays[classes.array][classes.place(row, 0)]
      let confidence = scores(of: part, row: row, in: arrays).first ?? .nan
      guard confidence >= least, let label = Int(exactly: number.rounded()) else { return nil }
      let first = background == .first ? 1 : 0
      return label >= first ? Best(row: row, label: label - first, confidence: confidence) : nil
    }
  }

  private func scored(_ part: HeadPart, in arrays: [[Float]], from least: Float) -> [Best] {
    let (count, columns) = (part.boxes.count, kept(part.scores.columns))
    if activation == .softmax {
      return (0..<count).compactMap { row in
        let scores = self.scores(of: part, row: row, in: arrays)
        guard let place = scores.indices.max(by: { scores[$0] < scores[$1] }), scores[place] >= least else {
          return nil
        }
        return Best(row: row, label: place, confidence: scores[place])
      }
    }
    // The logistic function is monotonic, so the largest number is searched before it is applied. The loop over classes
    // is outermost, for sequential access where rows are contiguous.
    var (largest, labels) = ([Float](repeating: -.infinity, count: count), [Int32](repeating: 0, count: count))
    let scores = part.scores
    arrays[scores.array].withUnsafeBufferPointer { numbers in
      for column in columns {
        let label = Int32(column - columns.lowerBound)
        var place = scores.place(0, column)
        for row in 0..<count {
          if numbers[place] > largest[row] { (largest[row], labels[row]) = (numbers[place], label) }
          place += scores.rowStride
        }
      }
    }
    return (0..<count).compactMap { row in
      guard largest[row] > -.infinity else { return nil }
      let score = activation == .sigmoid ? logistic(Double(largest[row])) : Double(largest[row])
      let confidence = Float(score * presence(part, row, arrays))
      return confidence >= least ? Best(row: row, label: Int(labels[row]), confidence: confidence) : nil
    }
  }

  /// Returns the factor of a row's class scores: the objectness, or 1.
  private func presence(_ part: HeadPart, _ row: Int, _ arrays: [[Float]]) -> Double {
    guard let objectness = part.objectness else { return 1 }
    let number = Double(arrays[objectness.array][objectness.place(row, 0)])
    return activation == .sigmoid ? logistic(number) : number
  }

  /// Returns the columns of classes other than the background.
  private func kept(_ columns: Int) -> Range<Int> {
    switch background {
    case _ where columns < 2: 0..<columns
    case .none: 0..<columns
    case .first: 1..<columns
    case .last: 0..<columns - 1
    }
  }

  private func activated(_ raw: [Float]) -> [Float] {
    switch activation {
    case .none: return raw
    case .sigmoid: return raw.map { Float(logistic(Double($0))) }
    case .softmax: return softmax(raw.map(Double.init)).map { Float($0) }
    }
  }
}
