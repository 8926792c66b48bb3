/// Exponentials along one axis, divided by their sum.
package struct Softmax: Operator {
  package static let name = "softmax"
  package var axis: Int

  package init(axis: Int) { self.axis = axis }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 1...1)
    guard inputs[0].scalar.isFloatingPoint, (0..<inputs[0].shape.rank).contains(axis) else {
      throw OperatorError("expected a floating-point tensor with an axis \(axis), got \(inputs[0])")
    }
    return inputs
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double { 14 * Double(outputs[0].count) }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    .elementwise(precision, inputs[0].scalar, roundings: 32 + 2 * Double(inputs[0].shape[axis]).squareRoot())
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    sameAxes(output) { $0 == axis }
  }

  package static let summary = OperatorSummary(
    formula: "y = e^(x - max x) / Σ e^(x - max x), along the axis",
    inputs: [("x", "floating-point")],
    outputs: [("y", "x's type")])

  package static let schema = AttributeSchema(
    Softmax(axis: 0), .required("axis", \.axis, "the axis, counted from the front"))
}
