/// The positions of the nonzero elements, in row-major order.
package struct NonZero: Operator {
  package static let name = "non_zero"
  package var scalar: ScalarType

  package init(scalar: ScalarType = .int64) { self.scalar = scalar }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 1...1)
    let x = inputs[0]
    guard x.shape.rank > 0, scalar == .int32 || scalar == .int64 else {
      throw OperatorError(
        "expected at least one dimension and int32 or int64 positions, got \(x) and \(scalar.rawValue)")
    }
    guard x.count <= Int(Int32.max) else { throw OperatorError("\(x) has more elements than an int32 counts") }
    let places = TensorType(scalar, [x.shape.rank, x.count])
    guard places.shape.isAddressable else { throw OperatorError("the positions of \(x) are too many") }
    return [places, TensorType(.int32, [1])]
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    Double(inputs[0].count) * Double(1 + inputs[0].shape.rank)
  }

  package static let summary = OperatorSummary(
    formula: "y[:, j] = the position of the j-th element with x ≠ 0, in row-major order",
    notes: "Not-a-number counts as nonzero. `N` is the number of x's elements.",
    inputs: [("x", "any type, at least one dimension, at most 2^31 - 1 elements")],
    outputs: [
      ("positions", "`[rank, N]` in `scalar`, one column for each nonzero element; columns after the count hold zeros"),
      ("count", "int32 `[1]`"),
    ])

  package static let schema = AttributeSchema(
    NonZero(), .optional("scalar", \.scalar, "the element type of the positions: int32 or int64"))
}
