/// Picks slices of x along one axis by index. An index outside the axis is an error on the CPU; other devices do not
/// detect it and clamp the index.
package struct Gather: Operator {
  package static let name = "gather"
  package var axis: Int

  package init(axis: Int) { self.axis = axis }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 2...2)
    let (x, indices) = (inputs[0], inputs[1])
    guard (0..<x.shape.rank).contains(axis) else { throw OperatorError("\(x) has no axis \(axis)") }
    guard !indices.scalar.isFloatingPoint, indices.scalar != .bool else {
      throw OperatorError("indices must be integers, got \(indices)")
    }
    guard x.shape[axis] > 0 || indices.count == 0 else { throw OperatorError("axis \(axis) of \(x) is empty") }
    let shape = Shape(
      x.shape.dimensions[..<axis] + indices.shape.dimensions + x.shape.dimensions[(axis + 1)...])
    guard shape.isAddressable else { throw OperatorError("the gathered shape \(shape) is too large") }
    return [TensorType(x.scalar, shape)]
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    let rank = inputs[1].shape.rank
    return output.shape.dimensions.indices.map { place in
      // An axis before the gathered one, one of the indices' axes, or one after.
      if place < axis { return SplitAxis(place, self, [place, nil]) }
      if place < axis + rank { return SplitAxis(place, self, [nil, place - axis]) }
      return SplitAxis(place, self, [place - rank + 1, nil])
    }
  }

  package static let summary = OperatorSummary(
    formula: "y[…, j…, …] = x[…, indices[j…], …]",
    notes: """
      Negative indices count from the end. An index outside its axis is an error on the CPU; other devices do not \
      detect it and clamp the index.
      """,
    inputs: [
      ("x", "any type"),
      ("indices", "integers of any shape"),
    ],
    outputs: [("y", "x's element type and shape, with the axis replaced by the shape of the indices")])

  package static let schema = AttributeSchema(
    Gather(axis: 0), .required("axis", \.axis, "the axis, counted from the front"))
}
