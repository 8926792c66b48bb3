/// A table with aligned columns, each as wide as needed or as the total width allows. Cells are shown `printable`.
package struct TextTable {
  package struct Column: Sendable {
    package enum Alignment: Sendable { case left, right }

    /// The part that is cut from a string that is too long for its column.
    package enum Cut: Sendable {
      case end, middle
      /// Most of the beginning, for strings whose ends are more informative, such as paths and layer names.
      case beginning
    }

    package var title: String
    package var alignment: Alignment
    /// The minimum width that this column may shrink to; nil keeps its cells complete.
    package var minimum: Int?
    package var cut: Cut
    /// Whether the column is left out if all its cells are empty or "—".
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
  /// Each row's cells, and remarks on lines of their own below it. A heading has neither.
  private var rows: [(cells: [String], remarks: [String], heading: String?)] = []
  private static let gap = 2
  /// The maximum columns of a cell, regardless of its column's width.
  private static let longestCell = 1000

  package init(_ columns: Column...) { self.columns = columns }
  package init(_ columns: [Column]) { self.columns = columns }

  /// Creates a table of numbers: names on the left, cut at the end if space is short, and columns aligned right,
  /// which are left out if empty.
  package init(numbers titles: [String]) {
    columns = titles.enumerated().map { index, title in
      index == 0 ? Column(title, shrinksTo: 8, cut: .end) : Column(title, .right, vanishes: true)
    }
  }

  /// Creates a table of numbers with a row for each element, from the titles and cells of its columns.
  package init<Row>(of rows: some Sequence<Row>, _ columns: KeyValuePairs<String, (Row) -> String>) {
    self.init(numbers: columns.map(\.key))
    for row in rows { add(columns.map { $0.value(row) }) }
  }

  /// The titles of the columns.
  package var titles: [String] { columns.map(\.title) }
  /// The cells of the rows, without headings and remarks.
  package var cells: [[String]] { rows.filter { $0.heading == nil }.map(\.cells) }

  package mutating func add(_ cells: String...) { add(cells) }

  /// Adds a row.
  ///
  /// - Parameter remarks: strings that are shown below the row.
  package mutating func add(_ cells: [String], remarks: [String] = []) {
    precondition(cells.count == columns.count, "\(columns.count) cells make a row, got \(cells.count)")
    rows.append((cells.map { $0.printable.truncatedInMiddle(to: Self.longestCell) }, remarks, nil))
  }

  /// Adds a heading line above the rows that follow.
  package mutating func add(heading: String) {
    rows.append((Array(repeating: "", count: columns.count), [], heading))
  }

  /// Returns `lines(width:)` joined by line feeds, without a trailing one.
  package func text(width: Int) -> String { lines(width: width).joined(separator: "\n") }

  /// Returns one line for the titles, unless all are empty, and one or more for each row.
  ///
  /// - Parameters:
  ///   - width: the maximum width of a line, as far as columns can shrink.
  ///   - droppable: titles of columns that are left out, in this order, before any column shrinks.
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
