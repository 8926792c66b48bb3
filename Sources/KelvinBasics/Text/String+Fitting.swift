extension String {
  /// Returns the string, with its middle replaced by an ellipsis if it is wider than `width` columns.
  package func truncatedInMiddle(to width: Int) -> String { cut(.middle, to: width) }

  /// Returns the string, with the part that `cut` selects replaced by an ellipsis if it is wider than `width`
  /// columns.
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

  /// Returns the `printable` string, wrapped at spaces into lines of at most `width` columns.
  ///
  /// - Parameters:
  ///   - indent: the indentation of every line, in columns.
  ///   - hangingIndent: the indentation of lines after the first; `indent` unless given.
  package func wrapped(to width: Int = 80, indent: Int = 0, hangingIndent: Int? = nil) -> [String] {
    let hanging = hangingIndent ?? indent
    var lines: [String] = []
    var line = String(repeating: " ", count: indent)
    var used = indent
    var isEmpty = true
    // Consecutive spaces are kept, since they align the start of a line.
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

  /// Returns the lines of `wrapped(to:indent:hangingIndent:)` joined by line feeds.
  package func paragraph(width: Int, indent: Int = 0, hangingIndent: Int? = nil) -> String {
    wrapped(to: width, indent: indent, hangingIndent: hangingIndent).joined(separator: "\n")
  }
}

extension [String] {
  /// The entries as a list with hanging indents, below an empty line and a title; nothing without entries.
  package func listed(under title: String) -> [String] {
    isEmpty ? [] : ["", title] + flatMap { "- \($0)".wrapped(hangingIndent: 2) }
  }
}

/// Returns a count with a noun: `1 node`, `2 nodes`.
package func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
