package import KelvinGraph

/// Parses strings in decimal or scientific notation as numbers (ONNX's `Cast` of strings). Integers are truncated.
package struct StringsToNumbers: OneInputOperation {
  package static let name = "strings_to_numbers"
  package let scalar: ScalarType
  package let input: String
  package let output: String

  package init(_ scalar: ScalarType, input: String, output: String) {
    self.scalar = scalar
    self.input = input
    self.output = output
  }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    guard case .strings(let shape) = inputs[0] else { return [.unknown] }
    return [.tensor(TensorType(scalar, shape))]
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let strings = try strings(0, inputs)
    let type = TensorType(scalar, strings.shape)
    // Swift's parser would end at a zero byte.
    func floating(_ string: String) -> Double? { string.utf8.contains(0) ? nil : Double(string) }
    func number(_ string: String) -> HostOperationError {
      refused(0, "'\(string.prefix(64))' is not a valid \(scalar)", remedy: "give numbers such as 12, -0.5 or 1e-3")
    }
    guard scalar.isFloatingPoint else {
      var words: [Int64] = []
      for string in strings.strings {
        // Doubles do not represent all 64-bit integers.
        if let word = Int64(string) ?? UInt64(string).map(Int64.init(bitPattern:)) {
          words.append(word)
        } else if let value = floating(string), let word = Int64(exactly: value.rounded(.towardZero)) {
          words.append(word)
        } else {
          throw number(string)
        }
      }
      return [.tensor(Tensor(type, wrapping: words))]
    }
    var values: [Double] = []
    for string in strings.strings {
      guard let value = floating(string) else { throw number(string) }
      values.append(value)
    }
    return [.tensor(Tensor(type, rounding: values))]
  }
}

/// Formats numbers as strings with the fewest digits that identify them (ONNX's `Cast` to strings).
package struct NumbersToStrings: OneInputOperation {
  package static let name = "numbers_to_strings"
  package let input: String
  package let output: String

  package init(input: String, output: String) {
    self.input = input
    self.output = output
  }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    guard case .tensor(let type) = inputs[0] else { return [.unknown] }
    return [.strings(type.shape)]
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let tensor = try tensor(0, inputs)
    guard StringTensor.takes(tensor.shape) else {
      throw refused(0, "\(tensor.type) is more than \(StringTensor.countLimit) strings", remedy: "give fewer numbers")
    }
    let strings =
      switch tensor.type.scalar {
      case .float64: tensor.doubles.map(\.description)
      case let scalar where scalar.isFloatingPoint: tensor.floats.map(\.description)
      case .uint64: tensor.words.map { UInt64(bitPattern: $0).description }
      default: tensor.words.map(\.description)
      }
    return [.strings(StringTensor(strings, tensor.shape))]
  }
}
