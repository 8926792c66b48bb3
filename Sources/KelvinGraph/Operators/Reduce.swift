/// Combines all elements along some axes.
package struct Reduce: Operator {
  package static let name = "reduce"
  package var function: Function
  package var axes: [Int]
  package var keepsDimensions: Bool

  package init(_ function: Function, axes: [Int], keepsDimensions: Bool) {
    self.function = function
    self.axes = axes
    self.keepsDimensions = keepsDimensions
  }

  /// The function's number in kernels and shaders.
  package var code: UInt32 { function.code }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 1...1)
    let shape = inputs[0].shape
    guard inputs[0].scalar != .bool else { throw OperatorError("takes numbers, got \(inputs[0])") }
    guard axes == Array(Set(axes)).sorted(), axes.allSatisfy({ (0..<shape.rank).contains($0) }) else {
      throw OperatorError("axes \(axes) are not ascending axes of \(inputs[0])")
    }
    let kept: [Int] = shape.dimensions.enumerated().compactMap { axis, size in
      axes.contains(axis) ? (keepsDimensions ? 1 : nil) : size
    }
    return [TensorType(inputs[0].scalar, Shape(kept))]
  }

  /// Returns the number of elements that each result combines.
  package func length(_ inputs: [TensorType]) -> Int { axes.reduce(1) { $0 * inputs[0].shape[$1] } }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double { Double(inputs[0].count) }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    switch function {
    case .maximum, .minimum: .exact
    default: .accumulation(precision, inputs[0].scalar, length: length(inputs))
    }
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    let kept = inputs[0].shape.dimensions.indices.filter { !axes.contains($0) }
    if keepsDimensions { return kept.map { SplitAxis($0, self, [$0]) } }
    return kept.enumerated().map { SplitAxis($0, self, [$1]) }
  }

  package static let summary = OperatorSummary(
    formula: "y = f of all elements of x along the axes",
    inputs: [("x", "numbers of any shape")],
    outputs: [("y", "x's shape with the axes reduced to 1 or removed, x's element type")],
    functions: Function.entries)

  package static let schema = AttributeSchema(
    Reduce(.sum, axes: [], keepsDimensions: false), .required("function", \.function, "f, one of the functions below"),
    .required("axes", \.axes, "the axes, counted from the front, ascending and distinct"),
    .optional("keeps_dimensions", \.keepsDimensions, "whether the axes remain, with size 1"))
}
