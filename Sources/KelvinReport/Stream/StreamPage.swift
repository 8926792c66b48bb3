import KelvinBasics

/// A self-contained page about streams of frames: latency, rates, heat and the steps of a governor over time, and the
/// tracks that were found. The page loads nothing, which its content security policy enforces.
package struct StreamPage: Sendable {
  package var content: Content

  package init(_ content: Content) { self.content = content }

  /// Renders the page. Sections without data are left out.
  ///
  /// - Returns: A complete HTML document in UTF-8.
  package func render() -> String {
    let links: [Markup] = content.streams.enumerated().map { number, stream in
      "<a href=\"#stream\(number)\">\(stream.name)</a>"
    }
    let notes: [Markup] = content.notes.map { "<li>\($0)</li>" }
    let body: Markup = """
      <main>
      <header><h1>\(breaking: content.title)</h1><p class="soft">\(content.summary)</p></header>
      \(PlacementSection.facts(content.facts))
      <nav aria-label="Streams">\(links.count > 1 ? links : [])</nav>
      \(content.comparison.map(comparison) ?? "")
      \(content.streams.enumerated().map { section($1, number: $0) })
      \(notes.isEmpty ? "" : "<section><h2>Notes</h2><ul class=\"notes\">\(notes)</ul></section>" as Markup)
      <footer><p><small>Kelvin \(content.kelvinVersion) · \(content.generated)</small></p></footer>
      </main>
      """
    let hasImages = content.streams.contains { $0.tracks.contains { $0.thumbnail != nil } }
    return PageDocument(
      title: content.title, style: "\(ReportStyle.plots)\(FrameRateChart.style)\(TrackTable.style)", body: body,
      hasImages: hasImages
    ).html
  }

  private func comparison(_ table: ReportTable) -> Markup {
    "<section id=\"comparison\"><h2>\(table.title)</h2>\(TokenSection.panel(table, titled: false))</section>"
  }

  private func section(_ stream: Stream, number: Int) -> Markup {
    let remarks: [Markup] = stream.remarks.map { "<li>\($0)</li>" }
    return """
      <section id="stream\(number)"><h2>\(breaking: stream.name)</h2>\(PlacementSection.facts(stream.facts))\
      \(remarks.isEmpty ? "" : "<ul class=\"notes\">\(remarks)</ul>" as Markup)\(charts(of: stream))\
      \(counts(of: stream))\(TrackTable.draw(stream.tracks, of: stream.name))</section>
      """
  }

  private func charts(of stream: Stream) -> Markup {
    guard !stream.latencies.isEmpty || !stream.rates.isEmpty else { return "" }
    var series = ReportSeries(units: stream.name, points: stream.latencies)
    series.deadline = stream.deadline
    series.heat = stream.heat
    series.heatSource = stream.heat.isEmpty ? "" : stream.heatSource
    series.isSimulated = stream.isSimulated && !stream.heat.isEmpty
    series.actions = stream.steps.map { step in
      (step.at, step.change, step.effect.isEmpty ? step.cause : "\(step.cause); \(step.effect)")
    }
    let parts = ["Latency"] + (stream.rates.isEmpty ? [] : ["frames"]) + (stream.heat.isEmpty ? [] : ["heat"])
    let heading = "\(parts.joined(separator: ", ")) over time"
    let until = stream.rates.map { $0.at + $0.seconds }.max() ?? 0
    let numbered: Markup = stream.steps.isEmpty ? "" : "<span>numbered: a change of the setting</span>"
    return """
      <p class="key"><span>line: median latency</span><span>band: up to p90</span>\
      \(FrameRateChart.key(stream.rates))\(numbered)</p>\
      \(LatencyChart.panel(series, heading: heading, until: until) { FrameRateChart.rows(stream.rates, series, time: $0) })
      """
  }

  private func counts(of stream: Stream) -> Markup {
    guard !stream.counts.isEmpty else { return "" }
    let rows = stream.counts.map { [$0.label, String($0.count)] }
    let unit = stream.tracks.isEmpty ? "frames" : "tracks"
    return TokenSection.panel(ReportTable(title: "Classes", columns: ["class", unit], rows: rows))
  }
}
