/// The recommended configuration for each question, and the table from which they are read. All strings are formatted
/// for display.
package struct ReportAdvice: Sendable, Hashable, Codable {
  package struct Pick: Sendable, Hashable, Codable {
    package var question: String
    package var answer: String

    package init(question: String, answer: String) {
      self.question = question
      self.answer = answer
    }
  }

  package struct Column: Sendable, Hashable, Codable {
    /// The heading that adjacent columns share; empty for none.
    package var group: String
    package var title: String

    package init(group: String, title: String) {
      self.group = group
      self.title = title
    }
  }

  package struct Cell: Sendable, Hashable, Codable {
    /// The content; nil for a value that was not measured.
    package var text: String?
    /// Whether the row is the pick for the column's question.
    package var isPick: Bool

    package init(text: String?, isPick: Bool) {
      self.text = text
      self.isPick = isPick
    }
  }

  package struct Row: Sendable, Hashable, Codable {
    package var label: String
    /// The cells, one for each column.
    package var cells: [Cell]

    package init(label: String, cells: [Cell]) {
      self.label = label
      self.cells = cells
    }
  }

  package var picks: [Pick]
  package var columns: [Column]
  package var rows: [Row]
  /// Sentences about the points at which one configuration overtakes another.
  package var crossovers: [String]
  /// The legend of the columns.
  package var legend: String

  package init(picks: [Pick], columns: [Column], rows: [Row], crossovers: [String], legend: String) {
    self.picks = picks
    self.columns = columns
    self.rows = rows
    self.crossovers = crossovers
    self.legend = legend
  }
}
