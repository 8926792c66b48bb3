/// Columns for a terminal: the first to the left, the others to the right, as wide as they need to be.
struct TextTable {
  private var rows: [[String]]

  init(_ header: [String]) { rows = [header] }

  mutating func add(_ row: [String]) { rows.append(row) }

  /// Columns that are empty or "—" in every row but the header are left out.
  var lines: [String] {
    let columns = (rows.first ?? []).indices.filter { column in
      column == 0 || rows.dropFirst().contains { !["", "—"].contains($0[column]) }
    }
    let widths = columns.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      var line = ""
      for (column, width) in zip(columns, widths) {
        let blank = String(repeating: " ", count: width - row[column].count)
        line += column == 0 ? row[column] + blank : "  " + blank + row[column]
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}

extension String {
  /// The text in lines of at most `width` characters, broken at spaces; lines after the first begin with `indent`.
  func wrapped(to width: Int = 80, indent: String = "") -> [String] {
    var lines: [String] = []
    var line = ""
    for word in split(separator: " ") {
      if !line.isEmpty, line.count + 1 + word.count > width {
        lines.append(line)
        line = indent + word
      } else {
        line += line.isEmpty || line == indent ? "\(word)" : " \(word)"
      }
    }
    return line.isEmpty ? lines : lines + [line]
  }
}
