/// Broadcasts x to a shape by NumPy's rules.
package struct Expand: Operator {
  package static let name = "expand"
  package var shape: Shape

  package init(_ shape: Shape) { self.shape = shape }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 1...1)
    guard shape.isAddressable, inputs[0].shape.broadcast(with: shape) == shape else {
      throw OperatorError("\(inputs[0]) does not broadcast to \(shape)")
    }
    return [TensorType(inputs[0].scalar, shape)]
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    let missing = shape.rank - inputs[0].shape.rank
    return shape.dimensions.indices.map { axis in
      SplitAxis(axis) { range in
        var op = self
        op.shape[axis] = range.count
        let own = axis - missing
        return Part(op, [own < 0 || inputs[0].shape[own] == 1 ? nil : Part.Operand(axis: own, range: range)])
      }
    }
  }

  package static let summary = OperatorSummary(
    formula: "y = x, repeated along axes of size 1 and along missing leading axes",
    inputs: [("x", "any type")],
    outputs: [("y", "x's element type in `shape`")])

  package static let schema = AttributeSchema(
    Expand([]), .required("shape", \.shape, "the shape, to which x broadcasts"))
}
