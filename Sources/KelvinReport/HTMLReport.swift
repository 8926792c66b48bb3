import KelvinBasics
import KelvinMeasurements

/// A self-contained page. The page loads nothing, which its content security policy enforces.
package enum HTMLReport {
  /// Renders a report. Sections without data are left out.
  ///
  /// - Returns: A complete HTML document in UTF-8.
  package static func render(_ input: ReportInput) -> String {
    let palette = ReportPalette(input.devices)
    let sections: [(id: Markup, name: Markup, body: Markup)] = [
      ("configurations", "Configurations", ConfigurationTable.section(input)),
      ("tokens", "Tokens", TokenSection.section(input)),
      ("placement", "Placement", PlacementSection.section(input, palette)),
      ("account", "Time breakdown", AccountChart.section(input)),
      ("timeline", "Timeline", TimelineChart.section(input, palette)),
      ("heat", "Heat", LatencyChart.section(input)),
      ("method", "Method", method(input)),
    ].filter { !$0.body.html.isEmpty }
    let links: [Markup] = sections.map { "<a href=\"#\($0.id)\">\($0.name)</a>" }
    let body: Markup = """
      \(ReportPalette.definitions)
      <main>
      \(header(input))
      \(input.advice == nil ? verdict(input) : AdviceSection.section(input.advice))
      \(legend(input.devices, palette))
      <nav aria-label="Sections">\(links.count > 1 ? links : [])</nav>
      \(sections.map(\.body))
      <footer><p><small>Kelvin \(input.kelvinVersion) · \(input.generated)</small></p></footer>
      </main>
      """
    return PageDocument(title: input.title, style: ReportStyle.css, body: body, script: ReportScript.source).html
  }

  private static func header(_ input: ReportInput) -> Markup {
    let model = input.model
    let size = model.weightBytes > 0 ? ", weights \(HumanReadable.bytes(model.weightBytes))" : ""
    let name = model.name.split(separator: "/").last.map(String.init) == input.title ? "" : "\(model.name), "
    return """
      <header><h1>\(input.title)</h1>
      <p class="soft">\(name)\(model.format), \(counted(model.layers, "layer"))\(size) · \(input.workload)<br>\
      \(input.machine.reportSummary)</p></header>
      """
  }

  private static func verdict(_ input: ReportInput) -> Markup {
    let findings: [Markup] = input.findings.map { "<li>\($0)</li>" }
    return """
      <section class="verdict"><h2>Verdict</h2>
      <p>\(input.verdict)</p>
      \(findings.isEmpty ? "" : "<ul>\(findings)</ul>" as Markup)
      </section>
      """
  }

  private static func legend(_ devices: [ReportDevice], _ palette: ReportPalette) -> Markup {
    let entries: [Markup] = devices.map { device in
      let driver = device.driver.isEmpty ? device.kind : "\(device.kind), \(device.driver)"
      return "<span>\(palette.chip(device.id)) <small>\(device.name) (\(driver))</small></span>"
    }
    return "<div class=\"legend\">\(entries)</div>"
  }

  private static func method(_ input: ReportInput) -> Markup {
    let notes: [Markup] = input.notes.map { "<li>\($0)</li>" }
    guard !notes.isEmpty else { return "" }
    return "<section id=\"method\"><h2>How this was measured</h2><ul class=\"notes\">\(notes)</ul></section>"
  }
}
