/// Matrix products of 8-bit integers, exact in int32. A node with a requantization may have a body in floating point.
package struct MatMulInteger: Operator {
  package static let name = "matmul_integer"
  package var transposesY: Bool
  package var requantization: Requantization?

  package init(transposesY: Bool = false, requantization: Requantization? = nil) {
    self.transposesY = transposesY
    self.requantization = requantization
  }

  private var float: MatMul { MatMul(transposesY: transposesY) }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    let expected = 4 + (requantization == nil ? 0 : Requantization.inputCount)
    try OperatorError.require(inputs, expected...expected)
    let (x, y) = (inputs[0], inputs[1])
    guard x.scalar.isByte, y.scalar.isByte else {
      throw OperatorError("expected two matrices of 8-bit integers, got \(x) and \(y)")
    }
    let output = try float.infer([TensorType(.float32, x.shape), TensorType(.float32, y.shape)])[0]
    let columns = output.shape[output.shape.rank - 1]
    guard inputs[2].scalar == x.scalar, inputs[2].shape.isParameter(of: 1) else {
      throw OperatorError("first zero point: expected one \(x.scalar.rawValue), got \(inputs[2])")
    }
    guard inputs[3].scalar == y.scalar, inputs[3].shape.isParameter(of: columns) else {
      throw OperatorError("second zero point: expected one or \(columns) of \(y.scalar.rawValue), got \(inputs[3])")
    }
    try requantization?.check(inputs[4...], channels: columns)
    return [TensorType(requantization?.scalar ?? .int32, output.shape)]
  }

  /// Returns the length of the sums.
  package func depth(_ inputs: [TensorType]) -> Int { float.depth(inputs) }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    2 * Double(outputs[0].count) * Double(depth(inputs)) + (requantization == nil ? 0 : 4 * Double(outputs[0].count))
  }

  package static let summary = OperatorSummary(
    formula: "z = (x - xZero) · (y - yZero), over the last two axes",
    notes: "The axes before them broadcast. The sums are exact in int32; sums beyond int32 wrap.",
    inputs: [
      ("x", "`[…, R, K]`, 8-bit integers"),
      ("y", "`[…, K, C]`, or `[…, C, K]` with `transposes_y`, 8-bit integers"),
      ("xZero", "one number of x's type"),
      ("yZero", "one, or `[C]`, of y's type"),
    ] + Requantization.inputs,
    outputs: [("z", "`[…, R, C]`, int32 or `requantized`")])

  package static let schema = AttributeSchema(
    MatMulInteger(), .optional("transposes_y", \.transposesY, "whether the last two axes of y are swapped first"),
    .group(\.requantization, Requantization.schema))
}
