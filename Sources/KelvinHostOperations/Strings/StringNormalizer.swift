import KelvinBasics
package import KelvinGraph

/// Removes stop words from a list of strings and changes the case (ONNX's `StringNormalizer`). If no string remains,
/// the result is a list of one empty string.
package struct StringNormalizer: OneInputOperation {
  package static let name = "string_normalizer"

  package enum Case: Hashable, Sendable {
    case kept, lower, upper
  }

  /// The strings that are removed.
  package let stopWords: [String]
  package let distinguishesCase: Bool
  package let letters: Case
  package let input: String
  package let output: String
  private let words: Set<ExactString>

  package init(without stopWords: [String], distinguishesCase: Bool, letters: Case, input: String, output: String) {
    self.stopWords = stopWords
    self.distinguishesCase = distinguishesCase
    self.letters = letters
    self.input = input
    self.output = output
    words = Set((distinguishesCase ? stopWords : stopWords.map { $0.lowercased() }).exact)
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let strings = try strings(0, inputs)
    let isRow = strings.shape.rank == 2 && strings.shape[0] == 1
    guard strings.shape.rank == 1 || isRow else {
      throw refused(0, "expected [C] or [1, C], got [\(strings.shape)]", remedy: "give one list of strings")
    }
    let left = strings.strings.filter { !words.contains(ExactString(distinguishesCase ? $0 : $0.lowercased())) }
    let written = left.map { string in
      switch letters {
      case .kept: string
      case .lower: string.lowercased()
      case .upper: string.uppercased()
      }
    }
    let result = written.isEmpty ? [""] : written
    return [.strings(StringTensor(result, isRow ? [1, result.count] : [result.count]))]
  }
}
