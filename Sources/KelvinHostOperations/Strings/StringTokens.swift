package import KelvinGraph

/// Splits each string into tokens. They are a last axis with the size of the greatest number of tokens, padded with a
/// string (ONNX Runtime's `Tokenizer`).
package struct StringTokens: OneInputOperation {
  package static let name = "string_tokens"

  package enum Rule: Hashable, Sendable {
    case characters
    /// The strings between matches of the expressions, which are applied one after another.
    case between([RegularExpression])
    /// The matches of an expression: each is the first after the previous one, and the longest at its position.
    case matches(RegularExpression)
  }

  package let rule: Rule
  /// The minimum number of scalars of a token; shorter ones are removed.
  package let leastLength: Int
  /// Whether the strings U+0002 and U+0003 precede and follow the tokens of each string.
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

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let strings = try strings(0, inputs)
    let rows = strings.strings.map { string in
      let tokens = tokens(of: Array(string.unicodeScalars))
      return isMarked ? ["\u{2}"] + tokens + ["\u{3}"] : tokens
    }
    return [.strings(try StringTensor(rows, strings.shape, padding: padding, "tokens", of: self))]
  }

  private func tokens(of string: [Unicode.Scalar]) -> [String] {
    let ranges: [Range<Int>]
    switch rule {
    case .characters: return string.map { String($0) }
    case .between(let separators):
      ranges = separators.reduce(string.isEmpty ? [] : [0..<string.count]) { pieces, separator in
        pieces.flatMap { piece in
          let gaps = separator.occurrences(in: Array(string[piece])).map { $0.shifted(by: piece.lowerBound) }
          let starts = [piece.lowerBound] + gaps.map(\.upperBound)
          return zip(starts, gaps.map(\.lowerBound) + [piece.upperBound]).map { $0..<$1 }
            .filter { $0.count >= leastLength }
        }
      }
    case .matches(let expression): ranges = expression.occurrences(in: string).filter { $0.count >= leastLength }
    }
    return ranges.map { range in
      var token = ""
      token.unicodeScalars.append(contentsOf: string[range])
      return token
    }
  }
}

extension Range<Int> {
  fileprivate func shifted(by distance: Int) -> Range { lowerBound + distance..<upperBound + distance }
}
