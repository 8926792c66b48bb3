/// Cleans a text and splits it into words as BERT does (Devlin et al., 2018). Each scalar keeps its position in the
/// text.
struct BasicTokenizer: Sendable {
  /// A scalar of a word, with the position in the text of the scalar that it comes from.
  struct Piece: Hashable, Sendable {
    let scalar: Unicode.Scalar
    let source: Int
  }

  let lowercases: Bool
  let stripsAccents: Bool

  /// Returns the words of a part of a text.
  ///
  /// - Parameters:
  ///   - scalars: the part.
  ///   - start: the number of scalars of the text before the part.
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
