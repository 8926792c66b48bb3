extension String {
  /// A part of a text that is written in one direction.
  package struct DirectionalRun {
    package let text: Substring.UnicodeScalarView
    package let isFromTheRight: Bool
  }

  /// The text in parts: from the first to the last letter of a script that is written from the right, with what joins
  /// words between them (one of space, `_`, `-`, `.`, `/`), and the rest. Digits and signs around such a part are outside
  /// of it: an isolated part then changes nothing of how they are read.
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
  /// The place behind the last letter of a run.
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
  /// Whether it is of a block whose letters are written from the right. Reference: Unicode, DerivedBidiClass, the ranges
  /// whose default is R or AL.
  fileprivate var isWrittenFromTheRight: Bool {
    switch value {
    case 0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
    default: false
    }
  }
}
