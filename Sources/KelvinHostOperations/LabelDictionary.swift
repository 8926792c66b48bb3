import KelvinBasics
package import KelvinGraph

/// Turns the scores of labels into a dictionary, or each row of scores into one (ONNX's `ZipMap`). Equal labels have
/// the largest of their scores; not-a-number is less than every number.
package struct LabelDictionary: OneOutputOperation {
  package static let name = "label_dictionary"

  package enum Rows: Sendable, Hashable {
    /// One row of scores, which becomes one dictionary.
    case one
    /// Like `one`, for the first of several rows; others are ignored.
    case first
    /// Each row becomes a dictionary.
    case each
  }

  package let labels: Labels
  /// The tensor whose last axis has one score for each label.
  package let scores: String
  package let output: String
  package let rows: Rows
  /// The distinct labels, and for each of `labels` its index among them; nil if all labels are distinct.
  package let keys: Labels
  private let positions: [Int]?

  package init(_ labels: Labels, scores: String, output: String, rows: Rows = .one) {
    self.labels = labels
    self.scores = scores
    self.output = output
    self.rows = rows
    switch labels {
    case .strings(let labels):
      let (first, positions) = Self.distinct(labels.exact)
      (keys, self.positions) = (.strings(first.map(\.string)), positions)
    case .integers(let labels):
      let (first, positions) = Self.distinct(labels)
      (keys, self.positions) = (.integers(first), positions)
    }
  }

  private static func distinct<Label: Hashable>(_ labels: [Label]) -> ([Label], [Int]?) {
    var places: [Label: Int] = [:]
    var first: [Label] = []
    let positions = labels.map { label in
      let place = places[label, default: first.count]
      if place == first.count {
        places[label] = place
        first.append(label)
      }
      return place
    }
    return (first, first.count == labels.count ? nil : positions)
  }

  package var inputs: [String] { [scores] }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    if case .tensor(let type) = inputs[0] { try check(type.shape.count) }
    return [rows == .each ? .sequence : .dictionary(isByString: labels.isString)]
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let scores = try tensor(0, inputs).doubles
    try check(scores.count)
    guard rows == .each else { return [.dictionary(row(scores[..<labels.count]))] }
    let starts = stride(from: 0, to: scores.count, by: labels.count)
    return [.sequence(starts.map { .dictionary(row(scores[$0..<$0 + labels.count])) })]
  }

  private func row(_ scores: ArraySlice<Double>) -> HostDictionary { HostDictionary(keys, values(scores)) }

  /// Returns the scores of a row in the order of the keys.
  func values(_ scores: ArraySlice<Double>) -> [Double] {
    guard let positions else { return Array(scores) }
    var values = [Double](repeating: .nan, count: keys.count)
    for (place, score) in zip(positions, scores) where values[place].isNaN || score > values[place] {
      values[place] = score
    }
    return values
  }

  func check(_ count: Int) throws(HostOperationError) {
    let isWhole = labels.count > 0 && count % labels.count == 0
    let fits =
      switch rows {
      case .one: count == labels.count && count > 0
      case .first: isWhole && count > 0
      case .each: isWhole
      }
    guard fits else { throw refused(0, "it has \(count) elements for \(labels.count) labels") }
  }
}
