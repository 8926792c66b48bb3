/// The input of a model: one or two texts as tokens, including special tokens.
public struct TokenEncoding: Hashable, Sendable {
  /// The ID of each token.
  public let numbers: [Int]
  /// The type of each token: 0 for the first text and its special tokens, 1 for the second.
  public let types: [Int]
  /// The token of the text at each position; nil for special tokens.
  public let tokens: [WordPieceTokenizer.Token?]

  /// The number of tokens.
  public var count: Int { numbers.count }
}

extension WordPieceTokenizer {
  /// Encodes a text as `[CLS] text [SEP]`, truncated at its end if it is too long.
  ///
  /// - Parameters:
  ///   - text: any text.
  ///   - limit: the maximum number of tokens.
  public func encoding(of text: String, limit: Int = 512) -> TokenEncoding {
    encoding(Array(tokens(of: text).prefix(max(0, limit - 2))), nil)
  }

  /// Encodes two texts as `[CLS] first [SEP] second [SEP]`. A long second text is split into several overlapping
  /// windows.
  ///
  /// - Parameters:
  ///   - first: a text that all windows contain, such as a question.
  ///   - second: a text of any length.
  ///   - limit: the maximum number of tokens in a window.
  ///   - overlap: the number of tokens of the second text that consecutive windows share.
  /// - Returns: at least one window; nil if the first text leaves no more room than the overlap.
  public func windows(
    of first: String, over second: String, limit: Int = 384, overlap: Int = 128
  ) -> [TokenEncoding]? {
    let question = tokens(of: first)
    let passage = tokens(of: second)
    let room = limit - question.count - 3
    guard room > overlap, overlap >= 0 else { return nil }
    var windows: [TokenEncoding] = []
    var start = 0
    repeat {
      let end = min(start + room, passage.count)
      windows.append(encoding(question, Array(passage[start..<end])))
      if end == passage.count { break }
      start += room - overlap
    } while true
    return windows
  }

  private func encoding(_ first: [Token], _ second: [Token]?) -> TokenEncoding {
    let special = vocabulary.special
    var numbers = [special.classification] + first.map(\.number) + [special.separator]
    var types = [Int](repeating: 0, count: numbers.count)
    var tokens: [Token?] = [nil] + first + [nil]
    if let second {
      numbers += second.map(\.number) + [special.separator]
      types += [Int](repeating: 1, count: second.count + 1)
      tokens += second + [nil]
    }
    return TokenEncoding(numbers: numbers, types: types, tokens: tokens)
  }
}
