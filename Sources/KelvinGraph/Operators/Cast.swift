/// The same values in another element type.
package struct Cast: Operator {
  package static let name = "cast"
  package var scalar: ScalarType

  package init(_ scalar: ScalarType) { self.scalar = scalar }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 1...1)
    return [TensorType(scalar, inputs[0].shape)]
  }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    .elementwise(precision, scalar, roundings: 2)
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    elementwiseAxes(inputs, output)
  }

  package static let summary = OperatorSummary(
    formula: "y = x in another element type",
    notes: """
      Floating-point results are rounded to nearest even. Integers become integers by their low bits. Floating-point \
      numbers lose their fraction first; one out of range becomes the nearest integer of the type, and not-a-number \
      becomes 0. Booleans are `x ≠ 0`.
      """,
    inputs: [("x", "any type")],
    outputs: [("y", "x's shape in `scalar`")])

  package static let schema = AttributeSchema(
    Cast(.float32), .required("scalar", \.scalar, "the element type of the output"))
}
