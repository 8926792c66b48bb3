package import KelvinGraph

/// Which texts a regular expression matches from their beginnings to their ends (ONNX's `RegexFullMatch`).
package struct TextMatch: HostStep {
  package static let name = "text_match"
  package let expression: RegularExpression
  package let input: String
  package let output: String

  package init(_ expression: RegularExpression, input: String, output: String) {
    self.expression = expression
    self.input = input
    self.output = output
  }

  package var inputs: [String] { [input] }
  package var outputs: [String] { [output] }

  package func types(_ inputs: [HostType]) throws(StepError) -> [HostType] {
    guard case .texts(let shape) = inputs[0] else { return [.unknown] }
    return [.tensor(TensorType(.bool, shape))]
  }

  package func run(_ inputs: [HostValue]) throws(StepError) -> [HostValue] {
    let texts = try texts(0, inputs)
    let found = texts.texts.map { expression.matches($0) ? 1.0 : 0 }
    return [.tensor(Tensor(TensorType(.bool, texts.shape), rounding: found))]
  }
}
