/// Cuts texts into the tokens of a WordPiece vocabulary, as BERT and the models after it take them.
///
/// A text is cleaned, cut at spaces, punctuation and Chinese characters, and each word into the longest tokens there are, from
/// its start; a word for which there are none is `[UNK]`. Places in a text count Unicode scalars, as Python's strings do.
public struct WordPieceTokenizer: Sendable {
  /// A token of a text.
  public struct Token: Hashable, Sendable {
    /// Its number in the vocabulary.
    public let number: Int
    /// The scalars of the text that it stands for.
    public let range: Range<Int>
    /// The scalars of the word that it is part of.
    public let word: Range<Int>
  }

  /// The tokens there are.
  public let vocabulary: WordPieceVocabulary
  /// Whether letters are made small, and accents taken off.
  public let lowercases: Bool
  /// Longer words are unknown.
  public let mostScalarsOfWord: Int
  private let basic: BasicTokenizer

  /// A tokenizer.
  ///
  /// - Parameters:
  ///   - vocabulary: the tokens there are.
  ///   - lowercases: whether letters are made small and accents taken off, as "uncased" models have it.
  ///   - mostScalarsOfWord: longer words are unknown.
  public init(_ vocabulary: WordPieceVocabulary, lowercases: Bool = true, mostScalarsOfWord: Int = 100) {
    self.vocabulary = vocabulary
    self.lowercases = lowercases
    self.mostScalarsOfWord = mostScalarsOfWord
    basic = BasicTokenizer(lowercases: lowercases, stripsAccents: lowercases)
  }

  /// The tokens of a text, in order, without those that stand before and behind it. What is written as a special token
  /// (`[MASK]`) is one.
  public func tokens(of text: String) -> [Token] {
    let scalars = Array(text.unicodeScalars)
    var tokens: [Token] = []
    var start = 0
    var place = 0
    while place < scalars.count {
      let rest = scalars[place...]
      guard scalars[place] == "[", let mark = vocabulary.marks.first(where: { rest.starts(with: $0.scalars) }) else {
        place += 1
        continue
      }
      append(scalars[start..<place], from: start, to: &tokens)
      let range = place..<place + mark.scalars.count
      tokens.append(Token(number: mark.number, range: range, word: range))
      place = range.upperBound
      start = place
    }
    append(scalars[start...], from: start, to: &tokens)
    return tokens
  }

  private func append(_ scalars: ArraySlice<Unicode.Scalar>, from start: Int, to tokens: inout [Token]) {
    for word in basic.words(scalars, from: start) { append(word, to: &tokens) }
  }

  /// The longest token that begins a word, then the longest that goes on, and so on.
  private func append(_ word: [BasicTokenizer.Piece], to tokens: inout [Token]) {
    let whole = word[0].source..<word[word.count - 1].source + 1
    let first = tokens.count
    var start = 0
    while start < word.count, word.count <= mostScalarsOfWord {
      var end = word.count
      var number: Int?
      while end > start, number == nil {
        var text = start == 0 ? "" : WordPieceVocabulary.continuation
        for piece in word[start..<end] { text.unicodeScalars.append(piece.scalar) }
        number = vocabulary.numbers[text]
        if number == nil { end -= 1 }
      }
      guard let number else { break }
      tokens.append(Token(number: number, range: word[start].source..<word[end - 1].source + 1, word: whole))
      start = end
    }
    guard start < word.count else { return }
    tokens.removeSubrange(first...)
    tokens.append(Token(number: vocabulary.special.unknown, range: whole, word: whole))
  }
}
