/// Elements of one of two tensors, with NumPy's broadcasting of all three.
package struct Select: Operator {
  package static let name = "select"

  package init() {}

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    elementwiseAxes(inputs, output)
  }

  package static let summary = OperatorSummary(
    formula: "z = x if the condition holds, else y, element by element",
    notes: "Shapes broadcast like in NumPy.",
    inputs: [
      ("condition", "bool"),
      ("x", "any type"),
      ("y", "x's element type"),
    ],
    outputs: [("z", "x's element type in the broadcast shape")])

  package static let schema = AttributeSchema(Select())

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 3...3)
    let (condition, x, y) = (inputs[0], inputs[1], inputs[2])
    guard condition.scalar == .bool, x.scalar == y.scalar else {
      throw OperatorError("expected a bool condition and two tensors of one type, got \(condition), \(x) and \(y)")
    }
    guard let values = x.shape.broadcast(with: y.shape), let shape = condition.shape.broadcast(with: values),
      shape.isAddressable
    else {
      throw OperatorError("shapes \(condition.shape), \(x.shape) and \(y.shape) do not broadcast")
    }
    return [TensorType(x.scalar, shape)]
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double { Double(outputs[0].count) }
}
