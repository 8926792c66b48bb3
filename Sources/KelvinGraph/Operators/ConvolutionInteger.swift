/// Cross-correlation of 8-bit integers, exact in int32. A node with a requantization may have a body in floating
/// point.
package struct ConvolutionInteger: Operator {
  package static let name = "convolution_integer"
  package var window: Window
  package var groups: Int
  package var requantization: Requantization?

  package init(window: Window, groups: Int = 1, requantization: Requantization? = nil) {
    self.window = window
    self.groups = groups
    self.requantization = requantization
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    let expected = 4 + (requantization == nil ? 0 : Requantization.inputCount)
    try OperatorError.require(inputs, expected...expected)
    let (x, weights) = (inputs[0], inputs[1])
    guard x.scalar.isByte, weights.scalar.isByte else {
      throw OperatorError("input and weights must be 8-bit integers, got \(x) and \(weights)")
    }
    let float = Convolution(window: window, groups: groups)
    let output = try float.infer([TensorType(.float32, x.shape), TensorType(.float32, weights.shape)])[0]
    guard inputs[2].scalar == x.scalar, inputs[2].shape.isParameter(of: 1) else {
      throw OperatorError("input's zero point: expected one \(x.scalar.rawValue), got \(inputs[2])")
    }
    guard inputs[3].scalar == weights.scalar, inputs[3].shape.isParameter(of: weights.shape[0]) else {
      throw OperatorError(
        "weights' zero point: expected one or \(weights.shape[0]) of \(weights.scalar.rawValue), got \(inputs[3])")
    }
    try requantization?.check(inputs[4...], channels: weights.shape[0])
    return [TensorType(requantization?.scalar ?? .int32, output.shape)]
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    2 * Double(outputs[0].count) * Double(inputs[1].shape[1] * window.count)
      + (requantization == nil ? 0 : 4 * Double(outputs[0].count))
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    [SplitAxis(0, self, [0] + inputs.dropFirst().map { _ in nil })]
  }

  package static let summary = OperatorSummary(
    formula: "y = convolution(x - xZero, weights - weightsZero)",
    notes: "The sums are exact in int32; sums beyond int32 wrap. Padding counts as `xZero`.",
    inputs: [
      ("x", "`[N, C, spatial…]`, 8-bit integers"),
      ("weights", "`[M, C / groups, kernel…]`, 8-bit integers"),
      ("xZero", "one number of x's type"),
      ("weightsZero", "one, or `[M]`, of the weights' type"),
    ] + Requantization.inputs,
    outputs: [("y", "`[N, M, spatial…]`, int32 or `requantized`")])

  package static let schema = AttributeSchema(
    ConvolutionInteger(window: Window(kernel: [])), .group(\.window, Window.schema),
    .optional("groups", \.groups, "number of groups; divides C and M"),
    .group(\.requantization, Requantization.schema))
}
