/// A table of formatted cells, which terminals and pages show alike.
package struct ReportTable: Sendable {
  package var title: String
  /// The headings; that of the first column, which holds names, may be empty.
  package var columns: [String]
  /// The rows, each with one cell for each column.
  package var rows: [[String]]
  /// Facts below the table.
  package var facts: [ReportFact]

  package init(title: String, columns: [String], rows: [[String]], facts: [ReportFact] = []) {
    (self.title, self.columns, self.rows, self.facts) = (title, columns, rows, facts)
  }
}
