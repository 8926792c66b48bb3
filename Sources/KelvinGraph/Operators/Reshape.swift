/// The same elements in the same order, in another shape.
package struct Reshape: Operator {
  package static let name = "reshape"
  package var shape: Shape

  package init(_ shape: Shape) { self.shape = shape }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 1...1)
    guard shape.isAddressable, shape.count == inputs[0].count else {
      throw OperatorError("\(inputs[0]) cannot be reshaped to \(shape): \(inputs[0].count) elements")
    }
    return [TensorType(inputs[0].scalar, shape)]
  }

  /// The leading axes that are equal in both shapes.
  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    let same = zip(inputs[0].shape.dimensions, shape.dimensions).prefix { $0 == $1 }.count
    return (0..<same).map { axis in
      SplitAxis(axis) { range in
        var op = self
        op.shape[axis] = range.count
        return Part(op, [Part.Operand(axis: axis, range: range)])
      }
    }
  }

  package static let summary = OperatorSummary(
    formula: "y = x, row-major, in another shape",
    inputs: [("x", "any type")],
    outputs: [("y", "x's element type in `shape`")])

  package static let schema = AttributeSchema(
    Reshape([]), .required("shape", \.shape, "the shape, with x's number of elements"))
}
