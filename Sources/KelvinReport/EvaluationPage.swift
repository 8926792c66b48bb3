import KelvinBasics

/// A self-contained page about an evaluation: quality and cost of each model, details from the job, and the examples
/// with the worst answers. The page loads nothing, which its content security policy enforces.
package struct EvaluationPage: Sendable {
  /// An evaluated model.
  package struct BenchmarkCandidate: Sendable {
    package var name: String
    /// The formatted figures and costs, in the order of the page's columns.
    package var cells: [String]
    /// The figure of the first measure; nil where there is none.
    package var quality: Double?
    /// The 95 % confidence interval of the first measure.
    package var interval: ClosedRange<Double>?
    /// The time of one warm answer in seconds, or the size in bytes: see ``EvaluationPage/cost``.
    package var cost: Double
    /// Whether the model is on the Pareto front of quality and cost.
    package var isOnFront: Bool
    /// Whether the model is the recommended one.
    package var isChosen: Bool
    package var sections: [Section]
    /// The worst answers, the worst first.
    package var mistakes: [Mistake]

    package init(
      name: String, cells: [String], quality: Double?, interval: ClosedRange<Double>?, cost: Double,
      isOnFront: Bool, isChosen: Bool, sections: [Section], mistakes: [Mistake]
    ) {
      (self.name, self.cells, self.quality, self.interval) = (name, cells, quality, interval)
      (self.cost, self.isOnFront, self.isChosen) = (cost, isOnFront, isChosen)
      (self.sections, self.mistakes) = (sections, mistakes)
    }
  }

  /// The kind of the models' costs.
  package enum Cost: Sendable {
    case time
    case size

    var name: String { self == .time ? "the time of one answer" : "the size" }
    var axis: String { self == .time ? "time of one answer, warm" : "size of the model's files" }
    func text(_ value: Double) -> String {
      self == .time ? HumanReadable.seconds(value) : HumanReadable.bytes(Int(value))
    }
  }

  /// A detailed section about a model.
  package enum Section: Sendable {
    /// A table; the first column holds names.
    case table(title: String, columns: [String], rows: [[String]])
    /// Calibration bins with answers: mean confidence, share of right answers, number of answers.
    case calibration([(confidence: Double, share: Double, count: Int)])
    case scatter(title: String, [(truth: Double, answer: Double)])
  }

  /// An example with a bad answer.
  package struct Mistake: Sendable {
    package var image: ContactSheet.Image
    package var caption: String

    package init(image: ContactSheet.Image, caption: String) { (self.image, self.caption) = (image, caption) }
  }

  package var title: String
  package var summary: String
  /// The sentence that recommends a model.
  package var verdict: String?
  /// The headings of the figures and costs; the first is that of the measure by which models are compared.
  package var columns: [String]
  /// Whether the first measure is a share, 0…1.
  package var isShare: Bool
  package var isBetterWhenLarger: Bool
  package var cost: Cost
  package var candidates: [BenchmarkCandidate]
  /// The comparison of the other models with the first, where it is a table instead of notes.
  package var comparison: Section?
  package var notes: [String]
  package var kelvinVersion: String

  package init(
    title: String, summary: String, verdict: String?, columns: [String], isShare: Bool, isBetterWhenLarger: Bool,
    cost: Cost = .time, candidates: [BenchmarkCandidate], comparison: Section? = nil, notes: [String],
    kelvinVersion: String
  ) {
    (self.title, self.summary, self.verdict, self.columns) = (title, summary, verdict, columns)
    (self.isShare, self.isBetterWhenLarger) = (isShare, isBetterWhenLarger)
    self.cost = cost
    (self.candidates, self.comparison, self.notes) = (candidates, comparison, notes)
    self.kelvinVersion = kelvinVersion
  }

  /// Renders the page.
  ///
  /// - Returns: A complete HTML document in UTF-8.
  package func render() -> String {
    let body: Markup = """
      <main>
      <header><h1>\(title)</h1><p class="soft">\(summary)</p></header>
      \(verdict.map { "<div class=\"verdict\"><h2>Verdict</h2><p>\($0)</p></div>" as Markup } ?? "")
      <div class="panel"><div class="scroll">\(table)</div></div>
      \(comparison.map { "<div class=\"halves wide\">\(EvaluationCharts.draw($0))</div>" as Markup } ?? "")
      <ul class="notes">\(notes.map { "<li>\($0)</li>" as Markup })</ul>
      \(candidates.count > 1 ? ParetoChart.section(of: self) : "")
      \(candidates.map(section))
      <footer><p><small>Kelvin \(kelvinVersion)</small></p></footer>
      </main>
      """
    return PageDocument(
      title: title,
      style:
        "\(ReportStyle.words)\(ContactSheet.style)\(EvaluationCharts.style)",
      body: body, hasImages: true
    ).html
  }

  /// The table with a row for each model, shown as cards on a phone. Columns without values are left out.
  private var table: Markup {
    let shown = columns.indices.filter { column in candidates.contains { !["", "—"].contains($0.cells[column]) } }
    let rows: [Markup] = candidates.map { one in
      let fields: [Markup] = shown.map { column in
        let text: Markup = "\(one.cells[column].isEmpty ? "—" : one.cells[column])"
        return "<td data-label=\"\(columns[column])\"><div>\(column == 0 ? "<b>\(text)</b>" : text)</div></td>"
      }
      let tag: Markup = one.isChosen ? " <span class=\"tag\">pick</span>" : ""
      return "<tr><th scope=\"row\"><div>\(breaking: one.name)\(tag)</div></th>\(fields)</tr>"
    }
    let names: [Markup] = shown.map { "<th scope=\"col\">\(columns[$0])</th>" }
    return """
      <table class="cards"><thead><tr><th scope="col">Model</th>\(names)</tr></thead><tbody>\(rows)</tbody></table>
      """
  }

  private func section(_ one: BenchmarkCandidate) -> Markup {
    guard !one.sections.isEmpty || !one.mistakes.isEmpty else { return "" }
    let mistakes: [Markup] = one.mistakes.map { mistake in
      var image = mistake.image
      image.path = "\(mistake.caption): \(image.path)"
      return ContactSheet.figure(image, [:])
    }
    return """
      <section><h2>\(breaking: one.name)</h2><div class="halves">\(one.sections.map(EvaluationCharts.draw))</div>
      \(mistakes.isEmpty ? "" : "<h3>Worst</h3><div class=\"sheet\">\(mistakes)</div>" as Markup)</section>
      """
  }
}
