/// What to pick for each question, and the one table that it is read from. Texts as they are shown.
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
    /// The heading that it shares with its neighbours; empty for none.
    package var group: String
    package var title: String

    package init(group: String, title: String) {
      self.group = group
      self.title = title
    }
  }

  package struct Cell: Sendable, Hashable, Codable {
    /// Nil for what was not measured.
    package var text: String?
    /// Whether the row is the pick of the column's question.
    package var isPick: Bool

    package init(text: String?, isPick: Bool) {
      self.text = text
      self.isPick = isPick
    }
  }

  package struct Row: Sendable, Hashable, Codable {
    package var label: String
    /// One for each column.
    package var cells: [Cell]

    package init(label: String, cells: [Cell]) {
      self.label = label
      self.cells = cells
    }
  }

  package var picks: [Pick]
  package var columns: [Column]
  package var rows: [Row]
  /// Where one configuration overtakes another, in sentences.
  package var crossovers: [String]
  /// What the columns say.
  package var legend: String

  package init(picks: [Pick], columns: [Column], rows: [Row], crossovers: [String], legend: String) {
    self.picks = picks
    self.columns = columns
    self.rows = rows
    self.crossovers = crossovers
    self.legend = legend
  }
}
