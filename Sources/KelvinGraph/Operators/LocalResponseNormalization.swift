/// Division by a power of the sum of squares over neighboring channels.
package struct LocalResponseNormalization: Operator {
  package static let name = "local_response_normalization"
  package var size: Int
  package var alpha: Float
  package var beta: Float
  package var k: Float

  package init(size: Int, alpha: Float, beta: Float, k: Float) {
    self.size = size
    self.alpha = alpha
    self.beta = beta
    self.k = k
  }

  /// Returns the range of channels that are summed for a channel.
  package func window(_ channel: Int, of count: Int) -> Range<Int> {
    let first = max(0, channel - (size - 1) / 2)
    return first..<min(count, channel + size / 2 + 1)
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 1...1)
    guard inputs[0].scalar.isFloatingPoint, inputs[0].shape.rank >= 2 else {
      throw OperatorError("expected a floating-point [N, C, …], got \(inputs[0])")
    }
    guard (1..<(1 << 31)).contains(size) else { throw OperatorError("size \(size) is not positive and below 2^31") }
    return inputs
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    Double(outputs[0].count) * (2 * Double(min(size, inputs[0].shape[1])) + 22)
  }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    .elementwise(precision, inputs[0].scalar, roundings: 64 + 2 * Double(size).squareRoot())
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    sameAxes(output) { $0 == 1 }
  }

  package static let summary = OperatorSummary(
    formula: "y = x / (k + alpha / size · Σ x²)^beta",
    notes: "Channel `c` sums the existing channels from `c - floor((size - 1) / 2)` to `c + ceil((size - 1) / 2)`.",
    inputs: [("x", "`[N, C, …]`, floating-point")],
    outputs: [("y", "x's type")])

  package static let schema = AttributeSchema(
    LocalResponseNormalization(size: 1, alpha: 0, beta: 0, k: 0),
    .required("size", \.size, "number of channels in a sum, below 2^31"),
    .required("alpha", \.alpha, "factor of the sum"), .required("beta", \.beta, "exponent"),
    .required("k", \.k, "added to the sum"))
}
