/// A comparison of two elements, with NumPy's broadcasting.
package struct Compare: Operator {
  package static let name = "compare"
  package var function: Function

  package init(_ function: Function) { self.function = function }

  /// The function's number in kernels and shaders.
  package var code: UInt32 { function.code }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 2...2)
    guard inputs[0].scalar == inputs[1].scalar else {
      throw OperatorError("takes two tensors of one type, got \(inputs[0]) and \(inputs[1])")
    }
    guard inputs[0].scalar != .bool || function == .equal || function == .notEqual else {
      throw OperatorError("\(function.rawValue) takes numbers, got \(inputs[0])")
    }
    guard let shape = inputs[0].shape.broadcast(with: inputs[1].shape), shape.isAddressable else {
      throw OperatorError("shapes \(inputs[0].shape) and \(inputs[1].shape) do not broadcast")
    }
    return [TensorType(.bool, shape)]
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double { Double(outputs[0].count) }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    elementwiseAxes(inputs, output)
  }

  package static let summary = OperatorSummary(
    formula: "z = f(x, y), element by element",
    notes: """
      Shapes broadcast like in NumPy. Not-a-number is unequal to every value, and all order comparisons with it are \
      false.
      """,
    inputs: [
      ("x", "any type; booleans have no order"),
      ("y", "x's element type"),
    ],
    outputs: [("z", "bool, the broadcast shape")],
    functions: Function.entries)

  package static let schema = AttributeSchema(
    Compare(.equal), .required("function", \.function, "f, one of the functions below"))
}
