/// One self-contained page: nothing is fetched, and a content policy in the page forbids it.
package enum HTMLReport {
  /// - Returns: a complete HTML document in UTF-8. Sections without data are left out.
  package static func render(_ input: ReportInput) -> String {
    let palette = ReportPalette(input.devices)
    let model = input.model
    let facts =
      "\(model.name), \(model.format), \(model.layers) layers, weights \(HumanReadable.bytes(model.weightBytes))"
    let findings: [Markup] = input.findings.map { "<li>\($0)</li>" }
    let notes: [Markup] = input.notes.map { "<li>\($0)</li>" }
    let page: Markup = """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
      script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
      <title>\(input.title) — Kelvin</title>
      <style>\(ReportStyle.css)</style>
      </head>
      <body>
      \(ReportPalette.definitions)
      <main>
      <header>
      <h1>\(input.title)</h1>
      <p class="soft">\(facts) · \(input.workload)</p>
      </header>
      <section class="verdict" aria-label="Verdict">
      <p>\(input.verdict)</p>
      \(findings.isEmpty ? "" : "<ul>\(findings)</ul>" as Markup)
      </section>
      <p class="soft">Measured on \(input.machine.summary).</p>
      \(legend(input.devices, palette))
      \(ConfigurationTable.section(input))
      \(PlacementSection.section(input, palette))
      \(TimelineChart.section(input, palette))
      \(LatencyChart.section(input))
      \(notes.isEmpty ? "" : "<section><h2>How this was measured</h2><ul>\(notes)</ul></section>" as Markup)
      <footer><p><small>Kelvin \(input.kelvinVersion) · \(input.generated)</small></p></footer>
      </main>
      <script>\(ReportStyle.script)</script>
      </body>
      </html>

      """
    return page.html
  }

  private static func legend(_ devices: [ReportDevice], _ palette: ReportPalette) -> Markup {
    let entries: [Markup] = devices.map { device in
      let driver = device.driver.isEmpty ? device.kind : "\(device.kind), \(device.driver)"
      return "<span>\(palette.chip(device.id)) <small>\(device.name) (\(driver))</small></span>"
    }
    return "<div class=\"legend\">\(entries)</div>"
  }
}
