/// Picks slices of x by tuples of indices.
package struct GatherND: Operator {
  package static let name = "gather_nd"
  package var batchDimensions: Int

  package init(batchDimensions: Int = 0) { self.batchDimensions = batchDimensions }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 2...2)
    let (x, indices) = (inputs[0], inputs[1])
    guard !indices.scalar.isFloatingPoint, indices.scalar != .bool, let depth = indices.shape.dimensions.last else {
      throw OperatorError("expected integer indices […, k], got \(indices)")
    }
    guard batchDimensions >= 0, batchDimensions < indices.shape.rank, batchDimensions <= x.shape.rank,
      x.shape.dimensions.prefix(batchDimensions) == indices.shape.dimensions.prefix(batchDimensions)
    else { throw OperatorError("the first \(batchDimensions) axes of \(x) and \(indices) differ") }
    guard depth <= x.shape.rank - batchDimensions else {
      throw OperatorError("tuples of \(depth) indices, but \(x) has \(x.shape.rank - batchDimensions) axes to index")
    }
    let indexed = x.shape.dimensions[batchDimensions..<batchDimensions + depth]
    let shape = Shape(indices.shape.dimensions.dropLast() + x.shape.dimensions[(batchDimensions + depth)...])
    guard shape.isAddressable else { throw OperatorError("the gathered shape \(shape) is too large") }
    guard !indexed.contains(0) || shape.count == 0 else { throw OperatorError("an indexed axis of \(x) is empty") }
    return [TensorType(x.scalar, shape)]
  }

  package static let summary = OperatorSummary(
    formula: "y[b…, n…] = x[b…, indices[b…, n…, 0], …, indices[b…, n…, k - 1]]",
    notes: """
      Negative indices count from the end. An index outside its axis is an error on the CPU; other devices do not \
      detect it and clamp the index.
      """,
    inputs: [
      ("x", "any type"),
      ("indices", "integers `[b…, n…, k]`; each tuple addresses a position along the `k` axes of x after `b…`"),
    ],
    outputs: [("y", "`[b…, n…]`, then the remaining axes of x, x's element type")])

  package static let schema = AttributeSchema(
    GatherND(),
    .optional("batch_dimensions", \.batchDimensions, "number of leading axes `b…` that x and the indices share"))
}
