/// The recommended configuration for each question, and the table from which they are read. All strings are formatted
/// for display.
package struct ReportAdvice: Sendable {
  package typealias Cell = (text: String?, isPick: Bool)

  package var picks: [(question: String, answer: String)]
  /// The columns: the heading that adjacent columns share, which may be empty, and their own.
  package var columns: [(group: String, title: String)]
  /// The rows, with a cell for each column: its content, which is nil for a value that was not measured, and whether the
  /// row is the pick for the column's question.
  package var rows: [(label: String, cells: [Cell])]
  /// Sentences about the points at which one configuration overtakes another.
  package var crossovers: [String]
  /// The legend of the columns.
  package var legend: String

  package init(
    picks: [(question: String, answer: String)], columns: [(group: String, title: String)],
    rows: [(label: String, cells: [Cell])], crossovers: [String], legend: String
  ) {
    (self.picks, self.columns, self.rows) = (picks, columns, rows)
    (self.crossovers, self.legend) = (crossovers, legend)
  }
}
