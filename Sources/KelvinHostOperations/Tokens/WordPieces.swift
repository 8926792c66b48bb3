package import KelvinBasics

/// A WordPiece vocabulary, which splits words greedily into the longest pieces from their start.
///
/// Reference: Devlin et al., "BERT" (2018); Schuster and Nakajima, "Japanese and Korean voice search" (2012).
package struct WordPieces: Hashable, Sendable {
  /// A piece of a word with its number and the range of the word's scalars.
  package typealias Piece = (number: Int, range: Range<Int>)

  package let numbers: [ExactString: Int]
  /// The prefix of pieces that continue a word.
  package let continuation: String
  /// The maximum number of scalars in a word; a longer word is not split.
  package let mostScalars: Int
  /// The number of bytes of the longest piece.
  private let longest: Int

  package init(_ numbers: [ExactString: Int], continuation: String, mostScalars: Int) {
    self.numbers = numbers
    self.continuation = continuation
    self.mostScalars = mostScalars
    longest = numbers.keys.reduce(0) { max($0, $1.string.utf8.count) }
  }

  /// Returns the pieces from the start of a word to its end, or to the first scalar that no piece begins with.
  package func pieces(of word: [Unicode.Scalar]) -> (pieces: [Piece], isWhole: Bool) {
    guard word.count <= mostScalars else { return ([], false) }
    var pieces: [Piece] = []
    var start = 0
    while start < word.count {
      guard let piece = longestPiece(of: word, from: start) else { return (pieces, false) }
      pieces.append(piece)
      start = piece.range.upperBound
    }
    return (pieces, true)
  }

  private func longestPiece(of word: [Unicode.Scalar], from start: Int) -> Piece? {
    var end = min(word.count, start + longest)
    while end > start {
      var text = start == 0 ? "" : continuation
      text.unicodeScalars.append(contentsOf: word[start..<end])
      if let number = numbers[ExactString(text)] { return (number, start..<end) }
      end -= 1
    }
    return nil
  }
}
