extension String {
  /// The number of columns on a terminal, by Unicode's East Asian widths (UAX #11) and emoji: two for wide
  /// characters, none for lone combining marks.
  package var columns: Int {
    utf8.allSatisfy { $0 < 0x80 } ? utf8.count : reduce(0) { $0 + $1.columns }
  }

  /// Returns the longest prefix of at most `width` columns.
  func beginning(columns width: Int) -> Substring {
    var left = width
    return prefix { character in
      left -= character.columns
      return left >= 0
    }
  }

  /// Returns the longest suffix of at most `width` columns.
  func end(columns width: Int) -> Substring {
    var left = width
    var start = endIndex
    while start > startIndex {
      let before = index(before: start)
      left -= self[before].columns
      if left < 0 { break }
      start = before
    }
    return self[start...]
  }
}

extension Character {
  fileprivate var columns: Int {
    guard let first = unicodeScalars.first, !isASCII else { return 1 }
    switch first.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: return 0
    default: break
    }
    if first.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return 2 }
    return Self.wide.contains { $0 ~= first.value } ? 2 : 1
  }

  /// The blocks of wide characters other than emoji.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
    0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18CFF,
    0x1AFF0...0x1B2FF, 0x1F200...0x1F2FF, 0x20000...0x3FFFD,
  ]
}
