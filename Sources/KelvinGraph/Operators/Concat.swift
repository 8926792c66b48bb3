/// Concatenates tensors along one axis.
package struct Concat: Operator {
  package static let name = "concat"
  package var axis: Int

  package init(axis: Int) { self.axis = axis }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    guard var joined = inputs.first else { throw OperatorError("takes at least 1 input, got 0") }
    guard (0..<joined.shape.rank).contains(axis) else { throw OperatorError("\(joined) has no axis \(axis)") }
    var total = 0
    for input in inputs {
      var expected = joined
      guard input.shape.rank == joined.shape.rank else {
        throw OperatorError("inputs differ in rank: \(inputs[0]) and \(input)")
      }
      expected.shape[axis] = input.shape[axis]
      guard input == expected else {
        throw OperatorError("inputs differ outside axis \(axis): \(inputs[0]) and \(input)")
      }
      let (sum, overflow) = total.addingReportingOverflow(input.shape[axis])
      guard !overflow else { throw OperatorError("the joined axis is too long") }
      total = sum
    }
    joined.shape[axis] = total
    return [joined]
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    output.shape.dimensions.indices.filter { $0 != axis }.map { place in
      SplitAxis(place, self, inputs.map { _ in place })
    }
  }

  package static let summary = OperatorSummary(
    formula: "y = x[0], x[1], … one after the other along the axis",
    inputs: [("x…", "one or more of one element type, equal in all other axes")],
    outputs: [("y", "the concatenated tensor")])

  package static let schema = AttributeSchema(
    Concat(axis: 0), .required("axis", \.axis, "the axis, counted from the front"))
}
