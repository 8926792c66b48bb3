/// Random numbers uniform over [0, 1), multiples of 2^-24: `y[i] = (w >> 8) · 2^-24`. w is word `i mod 4` of the block
/// of Philox 4×32-10 for the counter `(i / 4, stream, key[2], key[3])` and the key `(key[0], key[1])`.
///
/// Input: the key, uint32 `[4]`, from `RandomKey`. Output: float32 of `shape`. Equal keys give equal numbers on all
/// devices; streams of one key are independent of each other.
///
/// Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3 (2011).
package struct RandomUniform: Operator {
  package static let name = "random_uniform"
  package var shape: Shape
  /// The stream, from 0 to 2^31 - 1.
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

  package static let schema = AttributeSchema(
    RandomUniform([]), .required("shape", \.shape.dimensions), .optional("stream", \.stream))
}
