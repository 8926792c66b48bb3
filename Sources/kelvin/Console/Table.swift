import KelvinBasics

/// Aligned columns of text that fit the terminal: names that are too long lose their middle.
struct Table {
  struct Column {
    enum Alignment { case left, right }

    var title: String
    var alignment: Alignment
    /// The least width this column may shrink to; nil keeps its text whole.
    var minimum: Int?
    /// Whether the ends of its texts tell more than their beginnings, as with paths and the names of layers.
    var keepsEnds: Bool

    init(_ title: String, _ alignment: Alignment = .left, shrinksTo minimum: Int? = nil, keepsEnds: Bool = false) {
      self.title = title
      self.alignment = alignment
      self.minimum = minimum
      self.keepsEnds = keepsEnds
    }
  }

  private var columns: [Column]
  /// Each row's cells, and remarks that stand on lines of their own below it.
  private var rows: [(cells: [String], remarks: [String])] = []
  private static let gap = 2

  init(_ columns: Column...) { self.columns = columns }
  init(_ columns: [Column]) { self.columns = columns }

  mutating func add(_ cells: String...) { add(cells) }

  /// - Parameter remarks: text for which no column has room.
  mutating func add(_ cells: [String], remarks: [String] = []) {
    precondition(cells.count == columns.count, "\(columns.count) cells make a row, got \(cells.count)")
    rows.append((cells, remarks))
  }

  /// The table, one line for the titles and one or more for each row, without a newline at its end.
  func text(width: Int = Console.width) -> String {
    var widths = columns.indices.map { index in
      max(columns[index].title.count, rows.map { $0.cells[index].count }.max() ?? 0)
    }
    let available = width - Self.gap * (columns.count - 1)
    while widths.reduce(0, +) > available {
      let shrinkable = columns.indices.filter { widths[$0] > (columns[$0].minimum ?? .max) }
      guard let widest = shrinkable.max(by: { widths[$0] < widths[$1] }) else { break }
      widths[widest] -= 1
    }
    func line(_ cells: [String]) -> String {
      var line = ""
      for (index, cell) in cells.enumerated() {
        let text = cell.truncatedInMiddle(to: widths[index], keepsEnd: columns[index].keepsEnds)
        let padding = String(repeating: " ", count: widths[index] - text.count)
        line += columns[index].alignment == .left ? text + padding : padding + text
        if index < cells.count - 1 { line += String(repeating: " ", count: Self.gap) }
      }
      while line.last == " " { line.removeLast() }
      return line
    }
    var lines = columns.allSatisfy(\.title.isEmpty) ? [] : [line(columns.map(\.title))]
    for row in rows {
      lines.append(line(row.cells))
      lines += row.remarks.map { $0.wrapped(to: width, indent: 4) }
    }
    return lines.joined(separator: "\n")
  }
}

extension String {
  /// The text with an ellipsis in place of its middle where it is longer than `width` characters.
  ///
  /// - Parameter keepsEnd: keeps three times as much of its end as of its beginning.
  func truncatedInMiddle(to width: Int, keepsEnd: Bool = false) -> String {
    guard count > width, width > 0 else { return self }
    let kept = width - 1
    let beginning = keepsEnd ? kept / 4 : (kept + 1) / 2
    return "\(prefix(beginning))…\(suffix(kept - beginning))"
  }

  /// The text broken at spaces into lines of at most `width` characters.
  ///
  /// - Parameters:
  ///   - indent: columns that every line begins with.
  ///   - hangingIndent: columns that lines after the first begin with; `indent` unless given.
  func wrapped(to width: Int, indent: Int = 0, hangingIndent: Int? = nil) -> String {
    let hanging = hangingIndent ?? indent
    var lines: [String] = []
    var line = String(repeating: " ", count: indent)
    var isEmpty = true
    // Runs of spaces are kept: they align what stands at the beginning of a line.
    for word in split(separator: " ", omittingEmptySubsequences: false) {
      if !isEmpty, line.count + 1 + word.count > width {
        lines.append(line)
        line = String(repeating: " ", count: hanging)
        isEmpty = true
      }
      line += isEmpty ? "\(word)" : " \(word)"
      isEmpty = false
    }
    lines.append(line)
    return lines.joined(separator: "\n")
  }
}
