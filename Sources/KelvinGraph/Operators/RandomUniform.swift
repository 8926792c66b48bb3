/// Random numbers by Philox 4×32-10. Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3 (2011).
package struct RandomUniform: Operator {
  package static let name = "random_uniform"
  package var shape: Shape
  package var stream: Int

  package init(_ shape: Shape, stream: Int = 0) {
    self.shape = shape
    self.stream = stream
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 1...1)
    guard inputs[0] == RandomKey.type else { throw OperatorError("expected a key \(RandomKey.type), got \(inputs[0])") }
    guard shape.isAddressable, shape.count < 1 << 31, (0..<(1 << 31)).contains(stream) else {
      throw OperatorError("\(shape) numbers of stream \(stream), expected fewer than 2^31 of each")
    }
    return [TensorType(.float32, shape)]
  }

  /// Ten rounds of two 64-bit products give four numbers.
  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double { 20 * Double(outputs[0].count) }

  package static let summary = OperatorSummary(
    formula: """
      y[i] = (w >> 8) · 2^-24, with word w = Philox4x32-10(counter = (i / 4, stream, key[2], key[3]), key = (key[0], \
      key[1]))[i mod 4]
      """,
    notes: """
      The numbers are uniform over [0, 1). Equal keys give equal numbers on all devices; streams of one key are \
      independent of each other.
      """,
    inputs: [("key", "uint32 `[4]`, from `random_key`")],
    outputs: [("y", "float32 in `shape`, fewer than 2^31 numbers")])

  package static let schema = AttributeSchema(
    RandomUniform([]), .required("shape", \.shape.dimensions, "the shape of the output"),
    .optional("stream", \.stream, "the stream, from 0 to 2^31 - 1"))
}
