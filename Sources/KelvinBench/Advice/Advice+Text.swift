import KelvinBasics
import KelvinMeasurements
package import KelvinReport
import KelvinStreams

extension Advice {
  /// The output of `kelvin advise` for people, line by line.
  package var lines: [String] {
    guard let result = anyResult else { return notes }
    var lines = "\(result.model.name): what to pick".wrapped(hangingIndent: 2)
    lines += result.machine.reportSummary.wrapped(hangingIndent: 2) + [""]
    lines += AdviceTable(advice: self).lines(width: 80) + [""]
    if let interruption = evidence.interruption { lines += "Partial: \(interruption).".wrapped() }
    lines += (picks.map(sentence) + crossovers.map(\.sentence)).flatMap { "- \($0)".wrapped(hangingIndent: 2) }
    return lines + notes.listed(under: "Notes")
  }

  /// Returns the report page: the advice, then the measurements of the part that measured times in most detail.
  package func report() -> ReportInput? {
    guard let result = [AdvicePart.stream, .throughput, .photo].lazy.compactMap({ evidence.results[$0] }).first,
      var page = anyResult?.report()
    else { return nil }
    page.advice = AdviceTable(advice: self).report
    page.verdict = picks.first.map(sentence) ?? "Nothing was measured long enough to recommend anything."
    page.findings = []
    page.workload = request.questions.sorted { $0.order < $1.order }.map(title).joined(separator: ", ")
    // Of the simulated series only those of picked configurations are shown, to keep the chart readable.
    let picked = Set(picks.map { rows[$0.row].label })
    page.series = result.report().series + (lasting?.series ?? []).filter { picked.contains($0.units) }
    for part in AdvicePart.allCases {
      page.notes += evidence.results[part]?.notes.filter { !page.notes.contains($0) } ?? []
    }
    page.notes = notes + page.notes
    return page
  }
}

extension AdviceRequest.Question {
  fileprivate var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
