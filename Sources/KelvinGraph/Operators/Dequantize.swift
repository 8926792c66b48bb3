/// The numbers that quantized integers stand for.
package struct Dequantize: Operator {
  package static let name = "dequantize"
  package var axis: QuantizationAxis
  package var scalar: ScalarType

  /// Creates the operator.
  ///
  /// - Parameter axis: The axis of x along which scale and zero point vary; nil for a single scale and zero point.
  package init(axis: Int? = nil, blockSize: Int = 1, scalar: ScalarType = .float32) {
    self.axis = QuantizationAxis(axis, blockSize: blockSize)
    self.scalar = scalar
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 3...3)
    guard inputs[0].scalar.isQuantized, inputs[1].scalar.isFloatingPoint, inputs[2].scalar == inputs[0].scalar,
      scalar.isFloatingPoint
    else {
      throw OperatorError(
        "expected integers of at most 32 bits, a floating-point scale and a zero point of the first's type, got "
          + "\(inputs)")
    }
    try axis.check(inputs)
    return [TensorType(scalar, inputs[0].shape)]
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double { 2 * Double(outputs[0].count) }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    scalar == .float32 ? .exact : .elementwise(precision, scalar, roundings: 2)
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    axis.splitAxes(of: self, output)
  }

  package static let summary = OperatorSummary(
    formula: "y = (x - zero point) · scale",
    notes: "The exact difference is rounded to float32, and then its product with the scale is.",
    inputs: [
      ("x", "integers of at most 32 bits"),
      ("scale", "floating-point; one, or one for each position of `axis` or for each block"),
      ("zero point", "x's element type, the shape of the scale"),
    ],
    outputs: [("y", "x's shape in `scalar`")])

  package static let schema = AttributeSchema(
    Dequantize(), .group(\.axis, QuantizationAxis.schema),
    .required("scalar", \.scalar, "the element type of the output, a floating-point type"))
}
