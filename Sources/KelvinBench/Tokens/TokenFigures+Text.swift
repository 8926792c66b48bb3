import KelvinBasics
import KelvinMeasurements
import KelvinReport
import KelvinRuntime

extension TokenFigures {
  /// Returns the lines for a terminal.
  func lines(of label: String) -> [String] {
    let table = table(of: label)
    var text = TextTable(numbers: ["Tokens of '\(label)'"] + table.columns.dropFirst())
    for row in table.rows { text.add(row) }
    return text.lines(width: 80, leavingOut: [])
      + table.facts.flatMap { "\($0.name): \($0.value)".wrapped(hangingIndent: 2) }
  }

  /// Returns the time to the first token, then tokens per second as the sequence grows.
  func table(of label: String) -> ReportTable {
    let first = [oneShot.firstToken, sustained?.firstToken].map(HumanReadable.seconds)
    let rate = HumanReadable.perSecond
    let stretches = stretches.map { ["behind \($0.lengths)", rate($0.oneShot), rate($0.sustained)] }
    return ReportTable(
      title: label, columns: ["", "one-shot", "sustained"],
      rows: [["first token, of a prompt of \(prompt)"] + first] + stretches
        + [["all", rate(oneShot.rate), rate(sustained?.rate)]], facts: facts)
  }

  /// Facts about all tokens together.
  private var facts: [ReportFact] {
    var facts = [ReportFact("it remembers in", memory)]
    if let line {
      facts.append(
        ReportFact(
          "a token takes",
          "\(HumanReadable.seconds(line.atZero)) and \(HumanReadable.seconds(line.slope)) for each token before it,"
            + " \(HumanReadable.percent(line.residual, decimals: 1)) off"))
    }
    facts.append(
      ReportFact(
        "sizes cost",
        [counts(oneShot, "one-shot"), sustained.map { counts($0, "sustained") }]
          .compactMap { $0 }.joined(separator: "; ")))
    return facts
  }

  /// Returns `one-shot 1 plan and 2 compilations to the first token, 0 and 0 after it`.
  private func counts(_ pace: Pace, _ name: String) -> String {
    "\(name) \(counted(pace.promptCounts.plans, "plan")) and \(counted(pace.promptCounts.compilations, "compilation")) to"
      + " the first token, \(pace.counts.plans) and \(pace.counts.compilations) after it"
      + (pace.sequences > 1 ? ", in \(pace.sequences) sequences" : "")
  }
}

extension TokenFigures.Stretch {
  /// `33 to 48 tokens`.
  var lengths: String { from == to ? "\(from) tokens" : "\(from) to \(to) tokens" }
}
