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
