/// A function of one element.
package struct Unary: Operator {
  package static let name = "unary"
  package var function: UnaryFunction

  package init(_ function: UnaryFunction) { self.function = function }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 1...1)
    let takesBooleans = function.kind == .logicalNot
    guard (inputs[0].scalar == .bool) == takesBooleans else {
      throw OperatorError("\(function) takes \(takesBooleans ? "booleans" : "numbers"), got \(inputs[0])")
    }
    return inputs
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    function.operations * Double(outputs[0].count)
  }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    switch function.kind {
    case .relu, .clip, .abs, .negate, .floor, .ceil, .round, .sign, .thresholdedRelu, .logicalNot: .exact
    default: .elementwise(precision, inputs[0].scalar, roundings: 16)
    }
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    elementwiseAxes(inputs, output)
  }

  package static let summary = OperatorSummary(
    formula: "y = f(x), element by element",
    inputs: [("x", "numbers of any shape; booleans for `logical_not`")],
    outputs: [("y", "x's type")],
    functions: UnaryFunction.Kind.entries)

  package static let schema = AttributeSchema(
    Unary(.relu), .required("function", \.function, "f, one of the functions below, with its parameters a and b"))
}
