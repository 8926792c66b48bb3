extension String {
  /// The text as it may be shown to people: on one line, with nothing in it that moves a terminal's cursor, changes the
  /// order in which characters are read, or cannot be seen.
  ///
  /// Line feeds, returns and tabs become `\n`, `\r` and `\t`; other such characters their number, `\u{202E}`; bytes of a
  /// path that are no UTF-8 (`String.init(pathBytes:)`) `\xFF`. Of marks that stack on one character those beyond the
  /// eighth are written so too. A backslash stays as it is: what is shown is to be read, not to be taken back. Doing it
  /// twice changes nothing.
  package var printable: String { printable(keeping: []) }

  /// As `printable`, but for some characters that mean no harm where the text goes.
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

  /// Lines of ours, each `printable`: for text in which every line feed is meant.
  package var printableLines: String {
    guard !utf8.allSatisfy({ 0x20...0x7E ~= $0 || $0 == 0x0A }) else { return self }
    return split(separator: "\n" as Unicode.Scalar).map { String($0).printable }.joined(separator: "\n")
  }

  /// `printable`, with an ellipsis in place of the middle where it is longer than a message should be.
  package var printableMessage: String { printable.truncatedInMiddle(to: Self.longestMessage) }

  private func split(separator: Unicode.Scalar) -> [Substring] {
    // By scalars: as a character, a return and a line feed are one.
    unicodeScalars.split(separator: separator, omittingEmptySubsequences: false).map(Substring.init)
  }

  private static let mostMarks = 8
  private static let longestMessage = 4000

  /// Calls `body` with each scalar, and whether it must not be shown or written as it is where it stands, be it one mark
  /// too many.
  func forEachScalar(_ body: (Unicode.Scalar, _ isHidden: Bool) -> Void) {
    var before: Unicode.Scalar?
    var rest = unicodeScalars.makeIterator()
    var next = rest.next()
    var marks = 0
    while let scalar = next {
      next = rest.next()
      marks = scalar.properties.isMark ? marks + 1 : 0
      body(scalar, marks > Self.mostMarks || scalar.isHidden(after: before, before: next))
      before = scalar
    }
  }
}

extension Unicode.Scalar {
  /// Whether a reader cannot see it, or sees it elsewhere than where it stands: controls (C0, DEL, C1), separators of
  /// lines and paragraphs, marks and overrides of direction, characters that take no room, bytes that are no text.
  ///
  /// Joiners and variation selectors are needed by scripts and emoji, and are let be between characters beyond ASCII.
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

  /// Whether a character beyond ASCII is hidden wherever it stands, so that it is no neighbour that needs a joiner.
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
  /// Whether the character is put over or around the one before it.
  var isMark: Bool {
    switch generalCategory {
    case .nonspacingMark, .enclosingMark: true
    default: false
    }
  }
}
