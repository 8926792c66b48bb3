/// Aligned columns of text: as wide as they need to be, or as there is room for. Whatever is put in is shown `printable`.
package struct TextTable {
  package struct Column: Sendable {
    package enum Alignment: Sendable { case left, right }

    /// What gives way in a text that is too long for its column.
    package enum Cut: Sendable {
      case end, middle
      /// Most of the beginning: the ends tell more, as with paths and the names of layers.
      case beginning
    }

    package var title: String
    package var alignment: Alignment
    /// The least width this column may shrink to; nil keeps its text whole.
    package var minimum: Int?
    package var cut: Cut
    /// Whether the column is left out where all its cells are empty or "—".
    package var vanishes: Bool

    package init(
      _ title: String, _ alignment: Alignment = .left, shrinksTo minimum: Int? = nil, cut: Cut = .middle,
      vanishes: Bool = false
    ) {
      self.title = title
      self.alignment = alignment
      self.minimum = minimum
      self.cut = cut
      self.vanishes = vanishes
    }
  }

  private let columns: [Column]
  /// Each row's cells, and remarks that stand on lines of their own below it. A heading has neither columns nor remarks.
  private var rows: [(cells: [String], remarks: [String], heading: String?)] = []
  private static let gap = 2
  /// Columns of a cell's text at most, whatever its column allows.
  private static let longestCell = 1000

  package init(_ columns: Column...) { self.columns = columns }
  package init(_ columns: [Column]) { self.columns = columns }

  /// A table of numbers: names to the left, which lose their ends where there is no room, and columns to the right,
  /// which vanish where there is nothing in them.
  package init(numbers titles: [String]) {
    columns = titles.enumerated().map { index, title in
      index == 0 ? Column(title, shrinksTo: 8, cut: .end) : Column(title, .right, vanishes: true)
    }
  }

  /// The names of its columns.
  package var titles: [String] { columns.map(\.title) }
  /// Its rows, headings and remarks apart.
  package var cells: [[String]] { rows.filter { $0.heading == nil }.map(\.cells) }

  package mutating func add(_ cells: String...) { add(cells) }

  /// - Parameter remarks: text for which no column has room.
  package mutating func add(_ cells: [String], remarks: [String] = []) {
    precondition(cells.count == columns.count, "\(columns.count) cells make a row, got \(cells.count)")
    rows.append((cells.map { $0.printable.truncatedInMiddle(to: Self.longestCell) }, remarks, nil))
  }

  /// Adds a line of its own above the rows that follow.
  package mutating func add(heading: String) {
    rows.append((Array(repeating: "", count: columns.count), [], heading))
  }

  /// `lines(width:)` in one piece, without a newline at its end.
  package func text(width: Int) -> String { lines(width: width).joined(separator: "\n") }

  /// One line for the titles, unless there are none, and one or more for each row.
  ///
  /// - Parameters:
  ///   - width: of a line at most, where columns can be cut that far.
  ///   - droppable: titles of columns that are left out before any is cut, one after the other.
  package func lines(width: Int = .max, leavingOut droppable: [String] = []) -> [String] {
    var shown = columns.indices.filter { index in
      !columns[index].vanishes || rows.contains { !["", "—"].contains($0.cells[index]) }
    }
    var widths = columns.indices.map { index in
      max(columns[index].title.columns, rows.map { $0.cells[index].columns }.max() ?? 0)
    }
    func excess() -> Int { shown.reduce(-Self.gap) { $0 + widths[$1] + Self.gap } - width }
    for title in droppable where excess() > 0 { shown.removeAll { columns[$0].title == title } }
    while excess() > 0 {
      let shrinkable = shown.filter { widths[$0] > (columns[$0].minimum ?? .max) }
      guard let widest = shrinkable.max(by: { widths[$0] < widths[$1] }) else { break }
      widths[widest] -= 1
    }
    func line(_ cells: [String]) -> String {
      var line = ""
      for index in shown {
        let column = columns[index]
        let text = cells[index].cut(column.cut, to: widths[index])
        let padding = String(repeating: " ", count: max(widths[index] - text.columns, 0))
        line += line.isEmpty && index == shown.first ? "" : String(repeating: " ", count: Self.gap)
        line += column.alignment == .left ? text + padding : padding + text
      }
      while line.last == " " { line.removeLast() }
      return line
    }
    var lines = columns.allSatisfy(\.title.isEmpty) ? [] : [line(columns.map(\.title))]
    for row in rows {
      if let heading = row.heading {
        lines += heading.wrapped(to: width, hangingIndent: 2)
        continue
      }
      lines.append(line(row.cells))
      lines += row.remarks.flatMap { $0.wrapped(to: width, indent: 4) }
    }
    return lines
  }
}
