/// Columns for a terminal: the first to the left, the others to the right, as wide as they need to be.
package struct TextTable {
  private var rows: [[String]]

  package init(_ header: [String]) { rows = [header] }

  package mutating func add(_ row: [String]) { rows.append(row) }

  /// Columns that are empty or "—" in every row but the header are left out.
  package var lines: [String] { lines(without: []) }

  /// At most `width` columns wide: those named are left out one after the other, then first cells lose their ends.
  package func lines(width: Int, leavingOut droppable: [String]) -> [String] {
    var hidden: Set<String> = []
    var result = lines(without: hidden)
    for title in droppable where result.contains(where: { $0.count > width }) {
      hidden.insert(title)
      result = lines(without: hidden)
    }
    let excess = (result.map(\.count).max() ?? 0) - width
    guard excess > 0 else { return result }
    var shorter = self
    let room = max(8, (rows.map { $0[0].count }.max() ?? 0) - excess)
    shorter.rows = rows.map { row in
      [row[0].count > room ? "\(row[0].prefix(room - 1))…" : row[0]] + row.dropFirst()
    }
    return shorter.lines(without: hidden)
  }

  private func lines(without hidden: Set<String>) -> [String] {
    let header = rows.first ?? []
    let columns = header.indices.filter { column in
      column == 0
        || !hidden.contains(header[column]) && rows.dropFirst().contains { !["", "—"].contains($0[column]) }
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
  package func wrapped(to width: Int = 80, indent: String = "") -> [String] {
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
