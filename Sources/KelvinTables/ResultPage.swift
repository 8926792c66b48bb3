import Kelvin
package import KelvinBasics
import KelvinReport

/// A self-contained HTML page of result tables that loads no other files.
///
/// ```swift
/// let rows = answers.map { [$0.text, "\($0.score)"] }
/// let table = ResultPage.Table(title: "Who wrote it?", columns: ["Answer", "Score"], rows: rows)
/// let html = ResultPage(title: "Answers", summary: "from book.txt", tables: [table]).html()
/// ```
public struct ResultPage: Sendable {
  /// A table: rows of strings under column names.
  public struct Table: Sendable {
    /// The table's heading; may be empty.
    public var title: String
    /// The column names, from left to right.
    public var columns: [String]
    /// The rows. Rows that are longer or shorter than the columns are cut or padded.
    public var rows: [[String]]

    /// Creates a table.
    public init(title: String = "", columns: [String], rows: [[String]]) {
      (self.title, self.columns, self.rows) = (title, columns, rows)
    }

    /// Creates a table from terminal output. Headings become ordinary letters with a capital.
    package init(title: String = "", _ table: TextTable) {
      let columns = table.titles.map { String($0.prefix(1)) + $0.dropFirst().lowercased() }
      self.init(title: title, columns: columns, rows: table.cells)
    }
  }

  /// The page's heading.
  public var title: String
  /// A sentence that describes the tables.
  public var summary: String
  /// The tables, from top to bottom.
  public var tables: [Table]

  /// Creates a page of tables.
  public init(title: String, summary: String, tables: [Table]) {
    (self.title, self.summary, self.tables) = (title, summary, tables)
  }

  /// - Returns: the HTML document.
  public func html() -> String {
    let shown = tables.map { table in
      ReportTable(
        title: table.title, columns: table.columns,
        rows: table.rows.map { row in table.columns.indices.map { row.indices.contains($0) ? row[$0] : "" } })
    }
    return TablePage(title: title, summary: summary, tables: shown, kelvinVersion: kelvinVersion).render()
  }
}
