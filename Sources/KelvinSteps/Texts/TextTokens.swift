package import KelvinGraph

/// The tokens of each text in a last axis as long as the most tokens, with one text behind fewer (ONNX Runtime's
/// `Tokenizer`).
package struct TextTokens: HostStep {
  package static let name = "text_tokens"

  package enum Rule: Hashable, Sendable {
    case characters
    /// What lies between matches of the expressions, one after another.
    case between([RegularExpression])
    /// The matches of an expression, each the first that there is behind the one before, and of those the longest.
    case matches(RegularExpression)
  }

  package let rule: Rule
  /// Tokens of fewer scalars are left out.
  package let leastLength: Int
  /// Whether the texts U+0002 and U+0003 stand before and behind the tokens of each text.
  package let isMarked: Bool
  package let padding: String
  package let input: String
  package let output: String

  package init(_ rule: Rule, atLeast leastLength: Int, isMarked: Bool, padding: String, input: String, output: String) {
    self.rule = rule
    self.leastLength = leastLength
    self.isMarked = isMarked
    self.padding = padding
    self.input = input
    self.output = output
  }

  package var inputs: [String] { [input] }
  package var outputs: [String] { [output] }

  package func run(_ inputs: [HostValue]) throws(StepError) -> [HostValue] {
    let texts = try texts(0, inputs)
    let rows = texts.texts.map { text in
      let tokens = tokens(of: Array(text.unicodeScalars))
      return isMarked ? ["\u{2}"] + tokens + ["\u{3}"] : tokens
    }
    let most = rows.reduce(0) { max($0, $1.count) }
    let shape = Shape(texts.shape.dimensions + [most])
    guard TextTensor.takes(shape) else {
      throw refused(
        0, "\(texts.texts.count) texts of up to \(most) tokens are more than \(TextTensor.countLimit) texts",
        remedy: "give fewer or shorter ones")
    }
    let padded = rows.flatMap { $0 + [String](repeating: padding, count: most - $0.count) }
    return [.texts(TextTensor(padded, shape))]
  }

  private func tokens(of text: [Unicode.Scalar]) -> [String] {
    let ranges: [Range<Int>]
    switch rule {
    case .characters: return text.map { String($0) }
    case .between(let separators):
      ranges = separators.reduce(text.isEmpty ? [] : [0..<text.count]) { pieces, separator in
        pieces.flatMap { piece in
          let gaps = separator.occurrences(in: Array(text[piece])).map { $0.shifted(by: piece.lowerBound) }
          let starts = [piece.lowerBound] + gaps.map(\.upperBound)
          return zip(starts, gaps.map(\.lowerBound) + [piece.upperBound]).map { $0..<$1 }
            .filter { $0.count >= leastLength }
        }
      }
    case .matches(let expression): ranges = expression.occurrences(in: text).filter { $0.count >= leastLength }
    }
    return ranges.map { range in
      var token = ""
      token.unicodeScalars.append(contentsOf: text[range])
      return token
    }
  }
}

extension Range<Int> {
  fileprivate func shifted(by distance: Int) -> Range { lowerBound + distance..<upperBound + distance }
}
