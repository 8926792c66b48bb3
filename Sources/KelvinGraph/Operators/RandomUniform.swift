/// Numbers evenly distributed over [0, 1), multiples of 2^-24, of a key: `y[i] = (w >> 8) · 2^-24`, where w is word `i mod 4`
/// of Philox 4×32-10's block of the counter `(i / 4, stream, key[2], key[3])` and the key `(key[0], key[1])`.
///
/// Input: the key, uint32 `[4]`, from `RandomKey`. Output: float32 of `shape`. Equal keys give equal numbers, on every device;
/// streams of one key are independent of each other.
///
/// Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3 (2011).
package struct RandomUniform: Operator {
  package static let name = "random_uniform"
  package var shape: Shape
  /// From 0 to 2^31 - 1.
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

  /// Ten rounds of two products of 64 bits make four numbers.
  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double { 20 * Double(outputs[0].count) }

  package static let schema = AttributeSchema(
    RandomUniform([]), .required("shape", \.shape.dimensions), .optional("stream", \.stream))
}
