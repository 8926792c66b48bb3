package import KelvinGraph

/// A list of texts without those that are left out, in one case (ONNX's `StringNormalizer`). A list of which nothing is
/// left is one empty text.
package struct TextNormalizer: HostStep {
  package static let name = "text_normalizer"

  package enum Case: Hashable, Sendable {
    case kept, lower, upper
  }

  /// What is left out.
  package let stopWords: [String]
  package let distinguishesCase: Bool
  package let letters: Case
  package let input: String
  package let output: String
  private let words: Set<String>

  package init(without stopWords: [String], distinguishesCase: Bool, letters: Case, input: String, output: String) {
    self.stopWords = stopWords
    self.distinguishesCase = distinguishesCase
    self.letters = letters
    self.input = input
    self.output = output
    words = Set(distinguishesCase ? stopWords : stopWords.map { $0.lowercased() })
  }

  package var inputs: [String] { [input] }
  package var outputs: [String] { [output] }

  package func run(_ inputs: [HostValue]) throws(StepError) -> [HostValue] {
    let texts = try texts(0, inputs)
    let isRow = texts.shape.rank == 2 && texts.shape[0] == 1
    guard texts.shape.rank == 1 || isRow else {
      throw refused(0, "expected [C] or [1, C], got [\(texts.shape)]", remedy: "give one list of texts")
    }
    let left = texts.texts.filter { !words.contains(distinguishesCase ? $0 : $0.lowercased()) }
    let written = left.map { text in
      switch letters {
      case .kept: text
      case .lower: text.lowercased()
      case .upper: text.uppercased()
      }
    }
    let result = written.isEmpty ? [""] : written
    return [.texts(TextTensor(result, isRow ? [1, result.count] : [result.count]))]
  }
}
