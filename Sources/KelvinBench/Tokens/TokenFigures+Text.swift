import KelvinBasics
import KelvinMeasurements
import KelvinReport
import KelvinRuntime

extension TokenFigures {
  /// Returns the lines for a terminal: the time to the first token, then tokens per second as the sequence grows.
  func lines(of label: String) -> [String] {
    var table = TextTable(numbers: ["Tokens of '\(label)'", "one-shot", "sustained"])
    table.add([
      "first token, of a prompt of \(prompt)", HumanReadable.seconds(oneShot.firstToken),
      sustained.map { HumanReadable.seconds($0.firstToken) } ?? "—",
    ])
    for stretch in stretches {
      table.add(["behind \(stretch.lengths)", rate(stretch.oneShot), rate(stretch.sustained)])
    }
    table.add(["all", rate(oneShot.rate), rate(sustained?.rate)])
    return table.lines(width: 80, leavingOut: [])
      + facts.flatMap { "\($0.name): \($0.value)".wrapped(hangingIndent: 2) }
  }

  /// Returns the tables of the page.
  func report(of label: String) -> ReportTokens {
    ReportTokens(
      units: label, prompt: prompt, firstOneShot: oneShot.firstToken, firstSustained: sustained?.firstToken,
      stretches: stretches.map { .init(lengths: $0.lengths, oneShot: $0.oneShot, sustained: $0.sustained) },
      rateOneShot: oneShot.rate, rateSustained: sustained?.rate, facts: facts)
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

  private func rate(_ perSecond: Double?) -> String { perSecond.map { HumanReadable.perSecond($0) } ?? "—" }
}

extension TokenFigures.Stretch {
  /// `33 to 48 tokens`.
  var lengths: String { from == to ? "\(from) tokens" : "\(from) to \(to) tokens" }
}
