extension String {
  /// A part of a string with one writing direction.
  package struct DirectionalRun {
    package let text: Substring.UnicodeScalarView
    package let isFromTheRight: Bool
  }

  /// The string in parts of one writing direction. A right-to-left part extends from the first to the last
  /// right-to-left letter, including single joining characters between words (space, `_`, `-`, `.`, `/`). Digits and
  /// signs around it do not belong to it, so isolating the part does not change how they are displayed.
  package var directionalRuns: [DirectionalRun] {
    let scalars = unicodeScalars
    var runs: [DirectionalRun] = []
    func add(_ range: Range<String.Index>, isFromTheRight: Bool) {
      if !range.isEmpty { runs.append(DirectionalRun(text: scalars[range], isFromTheRight: isFromTheRight)) }
    }
    var place = utf8.allSatisfy { $0 < 0x80 } ? endIndex : startIndex
    var rest = startIndex
    while place < endIndex {
      guard scalars[place].isWrittenFromTheRight else {
        place = scalars.index(after: place)
        continue
      }
      add(rest..<place, isFromTheRight: false)
      rest = scalars.endOfRun(from: place)
      add(place..<rest, isFromTheRight: true)
      place = rest
    }
    add(rest..<endIndex, isFromTheRight: false)
    return runs
  }
}

extension String.UnicodeScalarView {
  /// Returns the index after the last letter of a right-to-left part.
  fileprivate func endOfRun(from start: Index) -> Index {
    var end = start
    while end < endIndex {
      if self[end].isWrittenFromTheRight || self[end].properties.isMark {
        end = index(after: end)
        continue
      }
      let behind = index(after: end)
      guard " _-./".unicodeScalars.contains(self[end]), behind < endIndex, self[behind].isWrittenFromTheRight else {
        break
      }
      end = behind
    }
    return end
  }
}

extension Unicode.Scalar {
  /// Whether it belongs to a block of right-to-left letters. Reference: Unicode, DerivedBidiClass, the ranges whose
  /// default is R or AL.
  fileprivate var isWrittenFromTheRight: Bool {
    switch value {
    case 0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
    default: false
    }
  }
}
