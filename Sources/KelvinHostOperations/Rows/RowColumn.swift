package import KelvinGraph

/// The contents of a slot for each of many rows.
package enum RowColumn: Sendable {
  /// Numbers, in the precision of an element type.
  case numbers(NumberRows, ScalarType)
  /// For each row a label of a list, by its index.
  case labels(Labels, places: [Int])
  /// Scores of distinct labels.
  case scores(Labels, NumberRows)
  /// An optional input that no row has.
  case absent

  /// Creates numbers in the precision of an element type.
  package init(_ numbers: [Double], count: Int, width: Int, _ scalar: ScalarType) {
    let held =
      scalar == .float64
      ? numbers : Tensor(TensorType(scalar, [numbers.count]), rounding: numbers).doubles
    self = .numbers(NumberRows(held, count: count, width: width), scalar)
  }
}

/// A host operation that processes many rows at once, each as `run` would process it alone.
package protocol RowColumnOperation: HostOperation {
  /// Returns the outputs of all rows, in order.
  ///
  /// - Parameter count: The number of rows.
  /// - Throws: `HostOperationError` for an input of an unsupported kind or with invalid contents.
  func run(_ inputs: [RowColumn], count: Int) throws(HostOperationError) -> [RowColumn]
  /// Whether the operation accepts omitted inputs.
  var joinsInputs: Bool { get }
  /// The outputs that are labels of a list, with their lists.
  var labelLists: [String: Labels] { get }
}

extension RowColumnOperation {
  package var joinsInputs: Bool { false }
  package var labelLists: [String: Labels] { [:] }

  func numbers(_ position: Int, _ inputs: [RowColumn]) throws(HostOperationError) -> (
    rows: NumberRows, scalar: ScalarType
  ) {
    guard case .numbers(let rows, let scalar) = inputs[position] else {
      throw refused(position, "it is not made of numbers")
    }
    return (rows, scalar)
  }
}

extension RowOperation: RowColumnOperation {
  package var joinsInputs: Bool { if case .joined = layout { true } else { false } }

  package func run(_ inputs: [RowColumn], count: Int) throws(HostOperationError) -> [RowColumn] {
    let rows = try layout.rows(inputs, count: count, of: self)
    try RowExtent(leading: [], count: count, width: rows.width).check(function.widths, of: self)
    var scalar = scalar ?? .float32
    if self.scalar == nil, case .numbers(_, let own)? = inputs.first { scalar = own }
    return [RowColumn(function.results(rows), count: count, width: function.resultCount(of: rows.width), scalar)]
  }
}

extension ClassifierOperation: RowColumnOperation {
  package var labelLists: [String: Labels] { [labelOutput: labels] }

  package func run(_ inputs: [RowColumn], count: Int) throws(HostOperationError) -> [RowColumn] {
    let rows = try RowLayout.batch.rows(inputs, count: count, of: self)
    try RowExtent(leading: [], count: count, width: rows.width).check(classifier.widths, of: self)
    let (winners, scores) = classifier.classify(rows)
    return [
      .labels(labels, places: winners), RowColumn(scores, count: count, width: classifier.scoreCount, .float32),
    ]
  }
}

extension TopLabel: RowColumnOperation {
  package var labelLists: [String: Labels] { [output: labels] }

  package func run(_ inputs: [RowColumn], count: Int) throws(HostOperationError) -> [RowColumn] {
    let rows = try numbers(0, inputs).rows
    try check(rows.width)
    return [.labels(labels, places: (0..<count).map { winner(rows.numbers[($0 * rows.width)...]) })]
  }
}

extension LabelDictionary: RowColumnOperation {
  package func run(_ inputs: [RowColumn], count: Int) throws(HostOperationError) -> [RowColumn] {
    let scores = try numbers(0, inputs).rows
    try check(scores.width)
    guard rows != .each || scores.width == labels.count else {
      throw refused(0, "it has \(scores.width) elements per row for \(labels.count) labels")
    }
    var values: [Double] = []
    values.reserveCapacity(count * keys.count)
    for row in 0..<count { values += self.values(scores[row].prefix(labels.count)) }
    return [.scores(keys, NumberRows(values, count: count, width: keys.count))]
  }
}

extension ValuePass: RowColumnOperation {
  package func run(_ inputs: [RowColumn], count: Int) throws(HostOperationError) -> [RowColumn] { inputs }
}

extension RowLayout {
  /// Returns the inputs of many rows, concatenated row by row.
  fileprivate func rows(
    _ inputs: [RowColumn], count: Int, of step: some RowColumnOperation
  ) throws(HostOperationError) -> NumberRows {
    guard case .joined(let widths) = self else { return try step.numbers(0, inputs).rows }
    if inputs.count == 1, case .numbers(let rows, _) = inputs[0] {
      try check([rows.width], widths, 0, step)
      return rows
    }
    var columns: [NumberRows] = []
    for (position, input) in inputs.enumerated() {
      if case .absent = input, let width = widths[position] {
        let missing = [Double](repeating: .nan, count: count * width)
        columns.append(NumberRows(missing, count: count, width: width))
      } else {
        let rows = try step.numbers(position, inputs).rows
        try check([rows.width], widths, position, step)
        columns.append(rows)
      }
    }
    return NumberRows(joining: columns, count: count)
  }
}

extension NumberRows {
  /// Concatenates rows.
  package init(joining parts: [NumberRows], count: Int) {
    let width = parts.reduce(0) { $0 + $1.width }
    let joined = [Double](unsafeUninitializedCapacity: count * width) { buffer, used in
      var left = 0
      for part in parts {
        part.numbers.withUnsafeBufferPointer { numbers in
          for row in 0..<count {
            for place in 0..<part.width {
              buffer[row * width + left + place] = numbers[row * part.width + place]
            }
          }
        }
        left += part.width
      }
      used = count * width
    }
    self.init(joined, count: count, width: width)
  }
}
