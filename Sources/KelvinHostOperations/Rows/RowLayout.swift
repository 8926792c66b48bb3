import KelvinGraph

/// The mapping from the inputs of a host operation to rows of numbers.
package enum RowLayout: Hashable, Sendable {
  /// All inputs, joined to one row (Core ML's models). An omitted optional input counts as not-a-numbers, as many as
  /// its entry in `widths`; the entry is nil if the number is not known.
  case joined(widths: [Int?])
  /// A single input with rows along its last axis (ONNX's models); a list is one row.
  case batch

  /// Returns the extent of the rows; nil if it is known only when the model runs.
  func extent(_ inputs: [HostType], of step: some HostOperation) throws(HostOperationError) -> RowExtent? {
    switch self {
    case .joined(let widths):
      var total = 0
      for (position, input) in inputs.enumerated() {
        guard case .tensor(let type) = input else { return nil }
        try check(type.shape, widths, position, step)
        total += type.shape.count
      }
      return RowExtent(leading: [], count: 1, width: total)
    case .batch:
      guard case .tensor(let type) = inputs[0] else { return nil }
      return try RowExtent(type.shape, of: step)
    }
  }

  func rows(
    _ inputs: [HostValue], of step: some HostOperation
  ) throws(HostOperationError) -> (rows: NumberRows, extent: RowExtent) {
    switch self {
    case .joined(let widths):
      var numbers: [Double] = []
      for (position, input) in inputs.enumerated() {
        if case .absent = input, let width = widths[position] {
          numbers += [Double](repeating: .nan, count: width)
        } else {
          let tensor = try step.tensor(position, input)
          try check(tensor.shape, widths, position, step)
          numbers += tensor.doubles
        }
      }
      let extent = RowExtent(leading: [], count: 1, width: numbers.count)
      return (NumberRows(numbers, count: 1, width: numbers.count), extent)
    case .batch:
      let tensor = try step.tensor(0, inputs)
      let extent = try RowExtent(tensor.shape, of: step)
      return (NumberRows(tensor.doubles, count: extent.count, width: extent.width), extent)
    }
  }

  func check(
    _ shape: Shape, _ widths: [Int?], _ position: Int, _ step: some HostOperation
  ) throws(HostOperationError) {
    guard let width = widths[position], width != shape.count else { return }
    throw step.refused(position, "it has \(shape.count) numbers, expected \(width)", remedy: "give \(width)")
  }
}

/// The number and the width of rows.
struct RowExtent {
  /// The axes before the last one, which the results keep.
  let leading: [Int]
  let count: Int
  let width: Int

  init(leading: [Int], count: Int, width: Int) {
    self.leading = leading
    self.count = count
    self.width = width
  }

  fileprivate init(_ shape: Shape, of step: some HostOperation) throws(HostOperationError) {
    guard let width = shape.dimensions.last else { throw step.refused(0, "it is one number, expected rows of them") }
    leading = shape.rank == 1 ? [1] : shape.dimensions.dropLast()
    count = leading.reduce(1, *)
    self.width = width
  }

  func check(_ widths: ClosedRange<Int>, of step: some HostOperation) throws(HostOperationError) {
    guard !widths.contains(width) else { return }
    let expected =
      widths.lowerBound == widths.upperBound ? "\(widths.lowerBound)" : "at least \(widths.lowerBound)"
    throw step.refused(0, "the model takes \(expected) numbers, it is given \(width)", remedy: "give \(expected)")
  }

  /// Returns the shape of the results, given their number per row.
  func shape(_ results: Int, of step: some HostOperation) throws(HostOperationError) -> Shape {
    let shape = Shape(leading + [results])
    guard shape.isAddressable else { throw step.refused(0, "\(shape) results are too many") }
    return shape
  }
}
