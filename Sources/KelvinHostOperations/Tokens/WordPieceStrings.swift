package import KelvinGraph

/// The WordPiece tokens of strings, as strings (`WordpieceTokenizer` of onnxruntime-extensions). Inputs: strings, and
/// the first string of each row with the number of strings behind, or nothing for one row per string. Outputs: the
/// tokens, the first token of each row with the number of tokens behind, then the first token of each row, and the one
/// behind it.
package struct WordPieceStrings: SlotOperation {
  package static let name = "word_piece_strings"
  package let pieces: WordPieces
  package let unknown: String
  package let slots: HostSlots

  package init(_ pieces: WordPieces, unknown: String, _ slots: HostSlots) {
    self.pieces = pieces
    self.unknown = unknown
    self.slots = slots
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let (strings, given) = (try strings(0, inputs).strings, try integers(1, inputs).integers)
    var rows: [Int] = []
    var tokens: [String] = []
    for (index, string) in strings.enumerated() {
      if given.isEmpty || rows.count < given.count && given[rows.count] == index { rows.append(tokens.count) }
      for word in string.unicodeScalars.split(separator: " ") { tokens += self.tokens(of: Array(word)) }
    }
    rows.append(tokens.count)
    return [try limited(tokens), .list(rows), .list(Array(rows.dropLast())), .list(Array(rows.dropFirst()))]
  }

  private func tokens(of word: [Unicode.Scalar]) -> [String] {
    let (found, isWhole) = pieces.pieces(of: word)
    let tokens = found.map { piece in
      (piece.range.lowerBound == 0 ? "" : pieces.continuation) + String(String.UnicodeScalarView(word[piece.range]))
    }
    return tokens + (isWhole ? [] : [unknown])
  }
}
