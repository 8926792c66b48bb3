/// The position of the largest or smallest element along one axis.
package struct ArgReduce: Operator {
  package enum Function: String, Hashable, Sendable, CaseIterable, AttributeConvertible { case maximum, minimum }

  package static let name = "arg_reduce"
  package var function: Function
  package var axis: Int
  package var keepsDimensions: Bool
  package var takesLast: Bool
  package var scalar: ScalarType

  package init(
    _ function: Function, axis: Int, keepsDimensions: Bool, takesLast: Bool = false, scalar: ScalarType = .int64
  ) {
    self.function = function
    self.axis = axis
    self.keepsDimensions = keepsDimensions
    self.takesLast = takesLast
    self.scalar = scalar
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 1...1)
    var shape = inputs[0].shape
    guard (0..<shape.rank).contains(axis), shape[axis] > 0, !scalar.isFloatingPoint, scalar != .bool else {
      throw OperatorError("expected a tensor with elements along axis \(axis) and an integer result, got \(inputs[0])")
    }
    if keepsDimensions { shape[axis] = 1 } else { shape.dimensions.remove(at: axis) }
    return [TensorType(scalar, shape)]
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double { Double(inputs[0].count) }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    let kept = inputs[0].shape.dimensions.indices.filter { $0 != axis }
    if keepsDimensions { return kept.map { SplitAxis($0, self, [$0]) } }
    return kept.enumerated().map { SplitAxis($0, self, [$1]) }
  }

  package static let summary = OperatorSummary(
    formula: "y = argmax x or argmin x along the axis",
    notes: "Not-a-number counts as larger than every number for a maximum, and as smaller for a minimum.",
    inputs: [("x", "numbers or booleans of any shape")],
    outputs: [("y", "positions in `scalar`; the axis is reduced to 1 or removed")])

  package static let schema = AttributeSchema(
    ArgReduce(.maximum, axis: 0, keepsDimensions: false),
    .required("function", \.function, "the extreme that is searched"),
    .required("axis", \.axis, "the axis, counted from the front"),
    .optional("keeps_dimensions", \.keepsDimensions, "whether the axis remains, with size 1"),
    .optional("takes_last", \.takesLast, "whether the last of several equal elements counts; otherwise the first does"),
    .optional("scalar", \.scalar, "the element type of the positions, an integer type"))
}
