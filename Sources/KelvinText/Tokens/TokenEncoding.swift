/// What a model reads: a text or two as tokens, with those that stand around them.
public struct TokenEncoding: Hashable, Sendable {
  /// The number of each token.
  public let numbers: [Int]
  /// 0 for the first text and what stands around it, 1 for the second.
  public let types: [Int]
  /// What each token stands for in its text; nil for those of no text.
  public let tokens: [WordPieceTokenizer.Token?]

  /// How many tokens there are.
  public var count: Int { numbers.count }
}

extension WordPieceTokenizer {
  /// `[CLS] text [SEP]`, cut at the end where it is longer.
  ///
  /// - Parameters:
  ///   - text: any text.
  ///   - limit: the most tokens.
  public func encoding(of text: String, limit: Int = 512) -> TokenEncoding {
    encoding(Array(tokens(of: text).prefix(max(0, limit - 2))), nil)
  }

  /// `[CLS] first [SEP] second [SEP]`, as often as the second text needs, each with some of the tokens before it.
  ///
  /// - Parameters:
  ///   - first: a text that all windows have, such as a question.
  ///   - second: a text of any length.
  ///   - limit: the most tokens of a window.
  ///   - overlap: how many tokens of the second text a window has in common with the one before it.
  /// - Returns: at least one; nil where the first text leaves less room than an overlap needs.
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
