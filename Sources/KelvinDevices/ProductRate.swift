/// The measured rate of a unit that multiplies and adds vectors or tiles.
package struct ProductRate: Hashable, Sendable, Encodable {
  /// The type of the operands: `float32`, `bfloat16`, `float16` or `int8`; `bfloat16 tiles` or `int8 tiles`.
  package var operands: String
  /// The operations of one thread in a second, a multiply-add counted as two.
  package var operationsPerSecond: Double

  package init(operands: String, operationsPerSecond: Double) {
    self.operands = operands
    self.operationsPerSecond = operationsPerSecond
  }
}
