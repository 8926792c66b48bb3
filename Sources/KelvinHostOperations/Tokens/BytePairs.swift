package import KelvinBasics

/// A vocabulary of byte pair encoding with the order of its merges.
///
/// Reference: Sennrich et al., "Neural machine translation of rare words with subword units" (2016).
package struct BytePairs: Hashable, Sendable {
  /// A token with the number of bytes of its encoded text.
  typealias Token = (number: Int, length: Int)

  /// The number of a token that is not in the vocabulary, as of onnxruntime-extensions.
  package static let missing = 0xFFFF_FFFF

  package let numbers: [ExactString: Int]
  private let merges: [Pair: Merge]

  private struct Pair: Hashable {
    let first: Int
    let second: Int
  }

  private struct Merge: Hashable {
    let rank: Int
    let number: Int
  }

  /// Creates a vocabulary.
  ///
  /// - Parameter merges: The pairs of tokens that are merged, in order.
  package init(_ numbers: [ExactString: Int], merges: [(String, String)]) {
    self.numbers = numbers
    func number(_ token: String) -> Int { numbers[ExactString(token)] ?? Self.missing }
    let ranked = merges.enumerated().map { rank, pair in
      (Pair(first: number(pair.0), second: number(pair.1)), Merge(rank: rank, number: number(pair.0 + pair.1)))
    }
    self.merges = Dictionary(ranked) { $1 }
  }

  package subscript(token: String) -> Int? { numbers[ExactString(token)] }

  /// Merges neighbours, the pair of lowest rank first and everywhere at once.
  func merged(_ tokens: [Token]) -> [Token] {
    var tokens = tokens
    while let best = bestPair(of: tokens) {
      var merged: [Token] = []
      merged.reserveCapacity(tokens.count)
      var index = 0
      while index < tokens.count {
        let isPair =
          index + 1 < tokens.count && tokens[index].number == best.pair.first
          && tokens[index + 1].number == best.pair.second
        merged.append(
          isPair ? (best.merge.number, tokens[index].length + tokens[index + 1].length) : tokens[index])
        index += isPair ? 2 : 1
      }
      tokens = merged
    }
    return tokens
  }

  private func bestPair(of tokens: [Token]) -> (pair: Pair, merge: Merge)? {
    var best: (pair: Pair, merge: Merge)?
    for (first, second) in zip(tokens, tokens.dropFirst()) {
      let pair = Pair(first: first.number, second: second.number)
      if let merge = merges[pair], merge.rank < best?.merge.rank ?? .max { best = (pair, merge) }
    }
    return best
  }
}

/// The characters that stand for bytes in vocabularies of GPT-2.
package enum ByteCharacters {
  /// The character of each byte: the byte itself, or one from U+0100 on for bytes that are no visible character.
  static let all: [Unicode.Scalar] = {
    var next: UInt32 = 256
    return (UInt32(0)..<256).map { byte in
      guard byte < 33 || (127..<161).contains(byte) || byte == 173 else { return Unicode.Scalar(byte) ?? " " }
      next += 1
      return Unicode.Scalar(next - 1) ?? " "
    }
  }()
}
