import KelvinHostOperations

/// Splits texts into tokens of a WordPiece vocabulary, as BERT and related models use them.
///
/// A text is cleaned and split at spaces, punctuation and Chinese characters. Each word is then split into the longest
/// tokens of the vocabulary, from its start. A word that cannot be split becomes `[UNK]`. Positions in a text count
/// Unicode scalars, as Python's strings do.
public struct WordPieceTokenizer: Sendable {
  /// A token of a text.
  public struct Token: Hashable, Sendable {
    /// The token's ID in the vocabulary.
    public let number: Int
    /// The range of the text's scalars that the token represents.
    public let range: Range<Int>
    /// The range of the scalars of the word that contains the token.
    public let word: Range<Int>
  }

  /// The vocabulary.
  public let vocabulary: WordPieceVocabulary
  /// Whether the text is converted to lowercase and accents are removed.
  public let lowercases: Bool
  /// The maximum number of scalars in a word; a longer word becomes `[UNK]`.
  public let mostScalarsOfWord: Int
  private let basic: BasicTokenizer
  private let pieces: WordPieces

  /// Creates a tokenizer.
  ///
  /// - Parameters:
  ///   - vocabulary: the vocabulary.
  ///   - lowercases: whether the text is converted to lowercase and accents are removed, as for "uncased" models.
  ///   - mostScalarsOfWord: the maximum number of scalars in a word; a longer word becomes `[UNK]`.
  public init(_ vocabulary: WordPieceVocabulary, lowercases: Bool = true, mostScalarsOfWord: Int = 100) {
    self.vocabulary = vocabulary
    self.lowercases = lowercases
    self.mostScalarsOfWord = mostScalarsOfWord
    basic = BasicTokenizer(lowercases: lowercases, stripsAccents: lowercases)
    pieces = WordPieces(
      vocabulary.numbers, continuation: WordPieceVocabulary.continuation, mostScalars: mostScalarsOfWord)
  }

  /// Returns the tokens of a text, in order, without the special tokens around it. A special token that is written in
  /// the text (`[MASK]`) is recognized.
  public func tokens(of text: String) -> [Token] {
    let scalars = Array(text.unicodeScalars)
    var tokens: [Token] = []
    var start = 0
    var index = 0
    while index < scalars.count {
      let rest = scalars[index...]
      guard scalars[index] == "[", let mark = vocabulary.marks.first(where: { rest.starts(with: $0.scalars) }) else {
        index += 1
        continue
      }
      append(scalars[start..<index], from: start, to: &tokens)
      let range = index..<index + mark.scalars.count
      tokens.append(Token(number: mark.number, range: range, word: range))
      index = range.upperBound
      start = index
    }
    append(scalars[start...], from: start, to: &tokens)
    return tokens
  }

  private func append(_ scalars: ArraySlice<Unicode.Scalar>, from start: Int, to tokens: inout [Token]) {
    for word in basic.words(scalars, from: start) { append(word, to: &tokens) }
  }

  /// Splits a word into pieces: first a word start, then continuations.
  private func append(_ word: [BasicTokenizer.Piece], to tokens: inout [Token]) {
    let whole = word[0].source..<word[word.count - 1].source + 1
    let (found, isWhole) = pieces.pieces(of: word.map(\.scalar))
    guard isWhole else { return tokens.append(Token(number: vocabulary.special.unknown, range: whole, word: whole)) }
    tokens += found.map { piece in
      let range = word[piece.range.lowerBound].source..<word[piece.range.upperBound - 1].source + 1
      return Token(number: piece.number, range: range, word: whole)
    }
  }
}
