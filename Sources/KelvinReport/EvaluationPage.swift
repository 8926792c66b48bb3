import KelvinBasics

/// What models said of examples whose answers are known, on one self-contained page: how good each is, against what it takes;
/// what the job has to say of it at length; and the examples that it does worst at. Nothing is fetched, and a content policy in
/// the page forbids it.
package struct EvaluationPage: Sendable {
  /// One model.
  package struct BenchmarkCandidate: Sendable {
    package var name: String
    /// In the order of the page's measures, as they are shown.
    package var figures: [String]
    /// The first of them; nil where there is none.
    package var quality: Double?
    /// Of it, with 95 % confidence.
    package var interval: ClosedRange<Double>?
    package var intervalText: String
    package var size: String
    package var memory: String
    /// Of one answer, warm.
    package var seconds: Double
    /// The devices at work.
    package var devices: String
    /// Whether no other is better at both quality and time.
    package var isOnFront: Bool
    /// Whether it is the one to use.
    package var isChosen: Bool
    package var sections: [Section]
    /// The worst first.
    package var mistakes: [Mistake]

    package init(
      name: String, figures: [String], quality: Double?, interval: ClosedRange<Double>?, intervalText: String,
      size: String, memory: String, seconds: Double, devices: String, isOnFront: Bool, isChosen: Bool,
      sections: [Section], mistakes: [Mistake]
    ) {
      (self.name, self.figures, self.quality, self.interval) = (name, figures, quality, interval)
      (self.intervalText, self.size, self.memory, self.seconds) = (intervalText, size, memory, seconds)
      (self.devices, self.isOnFront, self.isChosen) = (devices, isOnFront, isChosen)
      (self.sections, self.mistakes) = (sections, mistakes)
    }
  }

  /// What a job says of a model.
  package enum Section: Sendable {
    /// The first column is of names.
    case table(title: String, columns: [String], rows: [[String]])
    /// Of each bin with answers: their mean confidence, the share that is right, and how many there are.
    case calibration([(confidence: Double, share: Double, count: Int)])
    case scatter(title: String, [(truth: Double, answer: Double)])
  }

  /// An example that a model does badly at.
  package struct Mistake: Sendable {
    package var image: ContactSheet.Image
    package var caption: String

    package init(image: ContactSheet.Image, caption: String) { (self.image, self.caption) = (image, caption) }
  }

  package var title: String
  package var summary: String
  /// Which model to use.
  package var verdict: String?
  /// Headings of figures.
  package var measures: [String]
  /// Whether the first measure is a share of one.
  package var isShare: Bool
  package var isBetterWhenLarger: Bool
  package var contestants: [BenchmarkCandidate]
  /// How the others compare with the first, where that is a table rather than notes.
  package var comparison: Section?
  package var notes: [String]
  package var kelvinVersion: String

  package init(
    title: String, summary: String, verdict: String?, measures: [String], isShare: Bool, isBetterWhenLarger: Bool,
    contestants: [BenchmarkCandidate], comparison: Section? = nil, notes: [String], kelvinVersion: String
  ) {
    (self.title, self.summary, self.verdict, self.measures) = (title, summary, verdict, measures)
    (self.isShare, self.isBetterWhenLarger) = (isShare, isBetterWhenLarger)
    (self.contestants, self.comparison, self.notes) = (contestants, comparison, notes)
    self.kelvinVersion = kelvinVersion
  }

  /// - Returns: a complete HTML document in UTF-8.
  package func render() -> String {
    let body: Markup = """
      <main>
      <header><h1>\(title)</h1><p class="soft">\(summary)</p></header>
      \(verdict.map { "<div class=\"verdict\"><h2>Verdict</h2><p>\($0)</p></div>" as Markup } ?? "")
      <div class="panel"><div class="scroll">\(table)</div></div>
      \(comparison.map { "<div class=\"halves wide\">\(EvaluationCharts.draw($0))</div>" as Markup } ?? "")
      <ul class="notes">\(notes.map { "<li>\($0)</li>" as Markup })</ul>
      \(contestants.count > 1 ? ParetoChart.section(of: self) : "")
      \(contestants.map(section))
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

  /// A row for each model; on a phone a card. A column of which no model has anything is left out.
  private var table: Markup {
    let headings = [measures.first ?? "", "95 %"] + measures.dropFirst() + ["Size", "Memory", "Warm", "On"]
    let cells = contestants.map { one in
      [one.figures.first ?? "", one.intervalText] + one.figures.dropFirst()
        + [one.size, one.memory, HumanReadable.seconds(one.seconds), one.devices]
    }
    let columns = headings.indices.filter { column in cells.contains { !["", "—"].contains($0[column]) } }
    let rows: [Markup] = zip(contestants, cells).map { one, cells in
      let fields: [Markup] = columns.map { column in
        let text: Markup = "\(cells[column].isEmpty ? "—" : cells[column])"
        return "<td data-label=\"\(headings[column])\"><div>\(column == 0 ? "<b>\(text)</b>" : text)</div></td>"
      }
      let tag: Markup = one.isChosen ? " <span class=\"tag\">pick</span>" : ""
      return "<tr><th scope=\"row\"><div>\(breaking: one.name)\(tag)</div></th>\(fields)</tr>"
    }
    let names: [Markup] = columns.map { "<th scope=\"col\">\(headings[$0])</th>" }
    return """
      <table class="cards"><thead><tr><th scope="col">Model</th>\(names)</tr></thead><tbody>\(rows)</tbody></table>
      """
  }

  private func section(_ one: BenchmarkCandidate) -> Markup {
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
