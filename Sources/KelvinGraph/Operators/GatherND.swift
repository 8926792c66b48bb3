/// Picks slices of x by tuples of indices.
///
/// Inputs: x, any type; indices, an integer type, `[b…, n…, k]`, whose first `batchDimensions` axes are also x's. Each
/// tuple addresses a position along the next `k` axes of x. Negative indices count from the end; one outside its axis
/// is an error, as in `Gather`. Output: `[b…, n…]`, then the remaining axes of x.
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

  package static let schema = AttributeSchema(GatherND(), .optional("batch_dimensions", \.batchDimensions))
}
