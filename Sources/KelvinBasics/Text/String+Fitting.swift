extension String {
  /// The text with an ellipsis in place of its middle where it is wider than `width` columns.
  package func truncatedInMiddle(to width: Int) -> String { cut(.middle, to: width) }

  /// The text with an ellipsis in place of what gives way where it is wider than `width` columns.
  func cut(_ cut: TextTable.Column.Cut, to width: Int) -> String {
    guard columns > width, width > 0 else { return self }
    let kept = width - 1
    let beginning =
      switch cut {
      case .end: kept
      case .middle: (kept + 1) / 2
      case .beginning: kept / 4
      }
    return "\(self.beginning(columns: beginning))…\(end(columns: kept - beginning))"
  }

  /// The text, `printable`, broken at spaces into lines of at most `width` columns.
  ///
  /// - Parameters:
  ///   - indent: columns that every line begins with.
  ///   - hangingIndent: columns that lines after the first begin with; `indent` unless given.
  package func wrapped(to width: Int = 80, indent: Int = 0, hangingIndent: Int? = nil) -> [String] {
    let hanging = hangingIndent ?? indent
    var lines: [String] = []
    var line = String(repeating: " ", count: indent)
    var used = indent
    var isEmpty = true
    // Runs of spaces are kept: they align what stands at the beginning of a line.
    for word in printable.split(separator: " ", omittingEmptySubsequences: false) {
      let columns = String(word).columns
      if !isEmpty, used + 1 + columns > width {
        lines.append(line)
        line = String(repeating: " ", count: hanging)
        used = hanging
        isEmpty = true
      }
      line += isEmpty ? "\(word)" : " \(word)"
      used += isEmpty ? columns : columns + 1
      isEmpty = false
    }
    return lines + [line]
  }

  /// `wrapped(to:indent:hangingIndent:)` in one piece.
  package func paragraph(width: Int, indent: Int = 0, hangingIndent: Int? = nil) -> String {
    wrapped(to: width, indent: indent, hangingIndent: hangingIndent).joined(separator: "\n")
  }
}

/// `1 node`, `2 nodes`.
package func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
