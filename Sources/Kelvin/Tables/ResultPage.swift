#if Measuring
package import KelvinBasics
import KelvinReport

/// Results as tables, on one page that opens anywhere and fetches nothing.
///
/// ```swift
/// let rows = answers.map { [$0.text, "\($0.score)"] }
/// let table = ResultPage.Table(title: "Who wrote it?", columns: ["Answer", "Score"], rows: rows)
/// let html = ResultPage(title: "Answers", summary: "from book.txt", tables: [table]).html()
/// ```
public struct ResultPage: Sendable {
  /// Rows of texts below the names of their columns.
  public struct Table: Sendable {
    /// Above the table; may be empty.
    public var title: String
    /// The names above the cells, from the left.
    public var columns: [String]
    /// Rows with more or fewer cells than there are columns are cut or filled up.
    public var rows: [[String]]

    /// A table of a page.
    public init(title: String = "", columns: [String], rows: [[String]]) {
      (self.title, self.columns, self.rows) = (title, columns, rows)
    }

    /// What a terminal is shown, its headings in ordinary letters.
    package init(title: String = "", _ table: TextTable) {
      let columns = table.titles.map { String($0.prefix(1)) + $0.dropFirst().lowercased() }
      self.init(title: title, columns: columns, rows: table.cells)
    }
  }

  /// Above the page.
  public var title: String
  /// What is in the tables, in a sentence.
  public var summary: String
  /// One below the other, in this order.
  public var tables: [Table]

  /// A page of tables.
  public init(title: String, summary: String, tables: [Table]) {
    (self.title, self.summary, self.tables) = (title, summary, tables)
  }

  /// - Returns: an HTML document.
  public func html() -> String {
    let shown = tables.map { table in
      TablePage.Table(
        title: table.title, columns: table.columns,
        rows: table.rows.map { row in table.columns.indices.map { row.indices.contains($0) ? row[$0] : "" } })
    }
    return TablePage(title: title, summary: summary, tables: shown, kelvinVersion: kelvinVersion).render()
  }
}
#endif
