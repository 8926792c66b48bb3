/// The integers that stand for numbers.
package struct Quantize: Operator {
  package static let name = "quantize"
  package var axis: QuantizationAxis
  package var scalar: ScalarType

  /// Creates the operator.
  ///
  /// - Parameter axis: The axis of x along which scale and zero point vary; nil for a single scale and zero point.
  package init(axis: Int? = nil, blockSize: Int = 1, scalar: ScalarType) {
    self.axis = QuantizationAxis(axis, blockSize: blockSize)
    self.scalar = scalar
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 3...3)
    guard inputs[0].scalar.isFloatingPoint, inputs[1].scalar.isFloatingPoint, scalar.isQuantized,
      inputs[2].scalar == scalar
    else {
      throw OperatorError(
        "expected a floating-point tensor and scale and a zero point of \(scalar.rawValue), got \(inputs)")
    }
    try axis.check(inputs)
    return [TensorType(scalar, inputs[0].shape)]
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double { 3 * Double(outputs[0].count) }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    axis.splitAxes(of: self, output)
  }

  package static let summary = OperatorSummary(
    formula: "y = saturate(roundHalfEven(x / scale) + zero point)",
    notes: "The quotient is rounded to float32 first.",
    inputs: [
      ("x", "floating-point"),
      ("scale", "floating-point; one, or one for each position of `axis` or for each block"),
      ("zero point", "`scalar`, the shape of the scale"),
    ],
    outputs: [("y", "x's shape in `scalar`")])

  package static let schema = AttributeSchema(
    Quantize(scalar: .uint8), .group(\.axis, QuantizationAxis.schema),
    .required("scalar", \.scalar, "the element type of the output, an integer type of 8, 16 or 32 bits"))
}
