extension String {
  /// The string as it may be displayed: on one line, without characters that move a terminal's cursor, change the
  /// reading order, or are invisible.
  ///
  /// Line feeds, returns and tabs become `\n`, `\r` and `\t`. Other hidden characters become their number,
  /// `\u{202E}`. Path bytes that are not UTF-8 (`String.init(pathBytes:)`) become `\xFF`. Combining marks beyond the
  /// eighth on one character are escaped too. A backslash stays unchanged: the result is for reading, not for
  /// parsing. Applying it twice changes nothing.
  package var printable: String { printable(keeping: []) }

  /// Like `printable`, but keeps some characters that are harmless in the destination.
  package func printable(keeping harmless: Set<Unicode.Scalar>) -> String {
    guard !utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else { return self }
    var shown = ""
    shown.reserveCapacity(utf8.count + 16)
    forEachScalar { scalar, isHidden in
      if isHidden && !harmless.contains(scalar) {
        shown += scalar.escapedForPeople
      } else {
        shown.unicodeScalars.append(scalar)
      }
    }
    return shown
  }

  /// The lines of the string, each `printable`: for strings with intended line feeds.
  package var printableLines: String {
    guard !utf8.allSatisfy({ 0x20...0x7E ~= $0 || $0 == 0x0A }) else { return self }
    return split(separator: "\n" as Unicode.Scalar).map { String($0).printable }.joined(separator: "\n")
  }

  /// The `printable` string, shortened in the middle if it exceeds the maximum length of a message.
  package var printableMessage: String { printable.truncatedInMiddle(to: Self.longestMessage) }

  /// The text after the last semicolon and space, by the convention of messages the remedy; nil if there is none.
  package var remedy: String? {
    guard let end = utf8.indices.dropLast().last(where: { utf8[$0] == 0x3B && utf8[utf8.index(after: $0)] == 0x20 })
    else {
      return nil
    }
    return String(self[utf8.index(end, offsetBy: 2)...])
  }

  private func split(separator: Unicode.Scalar) -> [Substring] {
    // Splits by scalars, because a return and a line feed form one character.
    unicodeScalars.split(separator: separator, omittingEmptySubsequences: false).map(Substring.init)
  }

  private static let maximumMarks = 8
  private static let longestMessage = 4000

  /// Calls `body` with each scalar, and whether it must be escaped at its position, for example as an excessive
  /// combining mark.
  func forEachScalar(_ body: (Unicode.Scalar, _ isHidden: Bool) -> Void) {
    var before: Unicode.Scalar?
    var rest = unicodeScalars.makeIterator()
    var next = rest.next()
    var marks = 0
    while let scalar = next {
      next = rest.next()
      marks = scalar.properties.isMark ? marks + 1 : 0
      body(scalar, marks > Self.maximumMarks || scalar.isHidden(after: before, before: next))
      before = scalar
    }
  }
}

extension Unicode.Scalar {
  /// Whether a reader cannot see it, or sees it at another position. These are controls (C0, DEL, C1), line and
  /// paragraph separators, direction marks and overrides, zero-width characters, and path bytes that are not UTF-8.
  ///
  /// Joiners and variation selectors are needed by scripts and emoji, and are allowed next to characters beyond
  /// ASCII.
  fileprivate func isHidden(after before: Unicode.Scalar?, before next: Unicode.Scalar?) -> Bool {
    guard value >= 0x7F else { return value < 0x20 }
    guard !isHiddenAlways else { return true }
    guard properties.isDefaultIgnorableCodePoint else { return false }
    guard isJoinerOrSelector else { return true }
    let neighbours = [before, next].compactMap { $0 }
    return !neighbours.contains {
      $0.value >= 0x7F && !$0.isHiddenAlways && !$0.properties.isDefaultIgnorableCodePoint
    }
  }

  /// Whether a character beyond ASCII is hidden at every position, so that it does not need a neighbouring joiner.
  private var isHiddenAlways: Bool {
    if value < 0xA0 || isPathByte { return true }
    return switch properties.generalCategory {
    case .lineSeparator, .paragraphSeparator, .control: true
    case .format: 0xFFF9...0xFFFB ~= value
    default: false
    }
  }

  private var isJoinerOrSelector: Bool {
    value == 0x200C || value == 0x200D || properties.isVariationSelector
  }

  fileprivate var escapedForPeople: String {
    switch self {
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    case _ where isPathByte: "\\x" + String(pathByte, radix: 16, uppercase: true)
    default: "\\u{" + String(value, radix: 16, uppercase: true) + "}"
    }
  }
}

extension Unicode.Scalar.Properties {
  /// Whether the character is a combining mark.
  var isMark: Bool {
    switch generalCategory {
    case .nonspacingMark, .enclosingMark: true
    default: false
    }
  }
}
