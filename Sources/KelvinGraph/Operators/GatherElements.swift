/// Picks one element of x along one axis for each element of the output.
package struct GatherElements: Operator {
  package static let name = "gather_elements"
  package var axis: Int

  package init(axis: Int) { self.axis = axis }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 2...2)
    let (x, indices) = (inputs[0], inputs[1])
    try OperatorError.requireIndices(indices, along: axis, of: x)
    guard x.shape[axis] > 0 || indices.count == 0 else { throw OperatorError("axis \(axis) of \(x) is empty") }
    return [TensorType(x.scalar, indices.shape)]
  }

  package static let summary = OperatorSummary(
    formula: "y[…, i, …] = x[…, indices[…, i, …], …]",
    notes: """
      Negative indices count from the end. An index outside its axis is an error on the CPU; other devices do not \
      detect it and clamp the index.
      """,
    inputs: [
      ("x", "any type"),
      ("indices", "integers, of x's rank and no longer than x outside the axis"),
    ],
    outputs: [("y", "x's element type in the shape of the indices")])

  package static let schema = AttributeSchema(
    GatherElements(axis: 0), .required("axis", \.axis, "the axis, counted from the front"))
}

extension OperatorError {
  /// Throws an error unless each element of `indices` addresses a position along an axis.
  static func requireIndices(_ indices: TensorType, along axis: Int, of x: TensorType) throws(OperatorError) {
    guard (0..<x.shape.rank).contains(axis) else { throw OperatorError("\(x) has no axis \(axis)") }
    guard !indices.scalar.isFloatingPoint, indices.scalar != .bool else {
      throw OperatorError("indices must be integers, got \(indices)")
    }
    guard indices.shape.rank == x.shape.rank,
      (0..<x.shape.rank).allSatisfy({ $0 == axis || indices.shape[$0] <= x.shape[$0] })
    else { throw OperatorError("indices \(indices) do not fit into \(x) along the axes other than \(axis)") }
  }
}
