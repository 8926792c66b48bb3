package import KelvinGraph

/// Tells which strings a regular expression matches completely (ONNX's `RegexFullMatch`).
package struct StringMatch: OneInputOperation {
  package static let name = "string_match"
  package let expression: RegularExpression
  package let input: String
  package let output: String

  package init(_ expression: RegularExpression, input: String, output: String) {
    self.expression = expression
    self.input = input
    self.output = output
  }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    guard case .strings(let shape) = inputs[0] else { return [.unknown] }
    return [.tensor(TensorType(.bool, shape))]
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let strings = try strings(0, inputs)
    let found = strings.strings.map { expression.matches($0) ? 1.0 : 0 }
    return [.tensor(Tensor(TensorType(.bool, strings.shape), rounding: found))]
  }
}
