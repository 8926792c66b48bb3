/// A text cleaned and cut into words as BERT does it (Devlin et al., 2018), each scalar with its place in the text.
struct BasicTokenizer: Sendable {
  /// A scalar of a word, and which of the text's scalars it comes of.
  struct Piece: Hashable, Sendable {
    let scalar: Unicode.Scalar
    let source: Int
  }

  let lowercases: Bool
  let stripsAccents: Bool

  /// The words of a part of a text.
  ///
  /// - Parameters:
  ///   - scalars: the part.
  ///   - start: how many of the text's scalars stand before it.
  func words(_ scalars: ArraySlice<Unicode.Scalar>, from start: Int) -> [[Piece]] {
    var words: [[Piece]] = []
    var word: [Piece] = []
    func end() {
      if !word.isEmpty { words.append(word) }
      word = []
    }
    for (offset, original) in scalars.enumerated() where !original.isDropped {
      if original.properties.isWhitespace {
        end()
        continue
      }
      for scalar in normalized(original) {
        let piece = Piece(scalar: scalar, source: start + offset)
        if original.isChinese || scalar.isPunctuation {
          end()
          words.append([piece])
        } else {
          word.append(piece)
        }
      }
    }
    end()
    return words
  }

  private func normalized(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
    let bare = stripsAccents ? scalar.decomposed.filter { !$0.isNonspacingMark } : [scalar]
    return lowercases ? bare.flatMap { Array($0.lowercased) } : bare
  }
}
