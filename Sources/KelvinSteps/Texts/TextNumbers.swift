package import KelvinGraph

/// The numbers that texts spell, in decimal or scientific notation (ONNX's `Cast` of strings). Integers lose what is behind
/// the point.
package struct TextNumbers: HostStep {
  package static let name = "text_numbers"
  package let scalar: ScalarType
  package let input: String
  package let output: String

  package init(_ scalar: ScalarType, input: String, output: String) {
    self.scalar = scalar
    self.input = input
    self.output = output
  }

  package var inputs: [String] { [input] }
  package var outputs: [String] { [output] }

  package func types(_ inputs: [HostType]) throws(StepError) -> [HostType] {
    guard case .texts(let shape) = inputs[0] else { return [.unknown] }
    return [.tensor(TensorType(scalar, shape))]
  }

  package func run(_ inputs: [HostValue]) throws(StepError) -> [HostValue] {
    let texts = try texts(0, inputs)
    let type = TensorType(scalar, texts.shape)
    func number(_ text: String) -> StepError {
      refused(0, "'\(text.prefix(64))' is no number of \(scalar)", remedy: "give numbers such as 12, -0.5 or 1e-3")
    }
    guard scalar.isFloatingPoint else {
      var words: [Int64] = []
      for text in texts.texts {
        // Doubles do not hold all of them.
        if let word = Int64(text) ?? UInt64(text).map(Int64.init(bitPattern:)) {
          words.append(word)
        } else if let value = Double(text), let word = Int64(exactly: value.rounded(.towardZero)) {
          words.append(word)
        } else {
          throw number(text)
        }
      }
      return [.tensor(Tensor(type, wrapping: words))]
    }
    var values: [Double] = []
    for text in texts.texts {
      guard let value = Double(text) else { throw number(text) }
      values.append(value)
    }
    return [.tensor(Tensor(type, rounding: values))]
  }
}

/// Numbers as texts, with as many digits as tell them apart (ONNX's `Cast` to strings).
package struct NumberTexts: HostStep {
  package static let name = "number_texts"
  package let input: String
  package let output: String

  package init(input: String, output: String) {
    self.input = input
    self.output = output
  }

  package var inputs: [String] { [input] }
  package var outputs: [String] { [output] }

  package func types(_ inputs: [HostType]) throws(StepError) -> [HostType] {
    guard case .tensor(let type) = inputs[0] else { return [.unknown] }
    return [.texts(type.shape)]
  }

  package func run(_ inputs: [HostValue]) throws(StepError) -> [HostValue] {
    let tensor = try tensor(0, inputs)
    guard TextTensor.takes(tensor.shape) else {
      throw refused(0, "\(tensor.type) is more than \(TextTensor.countLimit) texts", remedy: "give fewer numbers")
    }
    let texts =
      switch tensor.type.scalar {
      case .float64: tensor.doubles.map(\.description)
      case let scalar where scalar.isFloatingPoint: tensor.floats.map(\.description)
      case .uint64: tensor.words.map { UInt64(bitPattern: $0).description }
      default: tensor.words.map(\.description)
      }
    return [.texts(TextTensor(texts, tensor.shape))]
  }
}
