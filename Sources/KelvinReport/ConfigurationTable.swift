import KelvinBasics
import KelvinMeasurements
import KelvinThermal

/// The comparison table: one row for each configuration, with accuracy and energy beside speed. Columns without values
/// are left out.
enum ConfigurationTable {
  private struct Column: Sendable {
    var title: Markup
    var cell: @Sendable (ReportConfiguration) -> Markup?

    init(_ title: Markup, _ cell: @escaping @Sendable (ReportConfiguration) -> Markup?) {
      self.title = title
      self.cell = cell
    }
  }

  static func section(_ input: ReportInput) -> Markup {
    let configurations = input.configurations
    guard !configurations.isEmpty else { return "" }
    let shown = columns.filter { column in configurations.contains { column.cell($0) != nil } }
    let head: [Markup] = shown.map { "<th scope=\"col\">\($0.title)</th>" }
    let rows: [Markup] = configurations.map { configuration in
      let cells: [Markup] = shown.map { column in
        guard let cell = column.cell(configuration) else { return "<td class=\"none\">—</td>" }
        return "<td data-label=\"\(column.title)\"><div>\(cell)</div></td>"
      }
      return """
        <tr\(configuration.isRecommended ? " class=\"best\"" : "" as Markup)>\(heading(configuration))\(cells)</tr>
        """
    }
    return """
      <section id="configurations"><h2>Configurations</h2>\(ConfigurationChart.draw(configurations, latencyOf: input.latencyOf))
      <div class="panel"><div class="scroll" tabindex="0" role="group" aria-label="Configurations"><table class="cards">
      <thead><tr><th scope="col">Units</th>\(head)</tr></thead><tbody>\(rows)</tbody></table></div>
      \(footnotes(configurations, latencyOf: input.latencyOf))</div></section>
      """
  }

  private static func heading(_ configuration: ReportConfiguration) -> Markup {
    let tag: Markup = configuration.isRecommended ? " <span class=\"tag\">pick</span>" : ""
    let comparison: Markup =
      configuration.comparison.isEmpty ? "" : "<br><small>\(configuration.comparison)</small>"
    let facts: [Markup] = configuration.facts.map { "<br><small>\($0.name): \($0.value)</small>" }
    return
      "<th scope=\"row\" data-label=\"Units\"><div><b>\(configuration.units)</b>\(tag)\(comparison)\(facts)</div></th>"
  }

  private static let columns: [Column] = [
    Column("First answer") { configuration in
      let parts = [
        ("launch", configuration.launch), ("load", configuration.load), ("compile", configuration.compile),
        ("inference", configuration.first),
      ]
      let known = parts.compactMap { name, seconds in seconds.map { (name, $0) } }
      guard !known.isEmpty else { return nil }
      let lines: [Markup] = known.map { "<br><small>\($0.0) \(HumanReadable.seconds($0.1))</small>" }
      let total = configuration.total ?? known.reduce(0) { $0 + $1.1 }
      return "\(HumanReadable.seconds(total))\(known.count > 1 ? lines : [])"
    },
    Column("Median") { configuration in
      guard let p50 = seconds(configuration.p50) else { return nil }
      let interval: Markup =
        configuration.p50Interval.map {
          "<br><small>\(HumanReadable.seconds($0.lower)) to \(HumanReadable.seconds($0.upper))</small>"
        } ?? ""
      return "<b>\(p50)</b>\(interval)"
    },
    Column("p90") { configuration in
      guard let p90 = seconds(configuration.p90) else { return nil }
      let p99: Markup = seconds(configuration.p99).map { "<br><small>p99 \($0)</small>" } ?? ""
      let samples: Markup = configuration.samples > 0 ? "<br><small>n = \(configuration.samples)</small>" : ""
      return "\(p90)\(p99)\(samples)"
    },
    Column("Throughput") { configuration in
      guard let throughput = configuration.throughput else { return nil }
      var remarks: [Markup] = []
      if configuration.dropped > 0 { remarks.append("<br><small>\(configuration.dropped) dropped</small>") }
      if configuration.disturbedWindows > 0 {
        remarks.append("<br><small>\(counted(configuration.disturbedWindows, "window")) disturbed</small>")
      }
      return "\(HumanReadable.perSecond(throughput))\(remarks)"
    },
    Column("Drift") { $0.drift.map { "\(HumanReadable.fixed($0, decimals: 2))" } },
    Column("Energy") { $0.energy.map { "\($0)" } },
    Column("Thermal") { $0.thermal.map { state($0) } },
    Column("Agreement") { $0.agreement.map { agreement($0) } },
  ]

  private static func footnotes(_ configurations: [ReportConfiguration], latencyOf: String) -> Markup {
    var notes = ["Latency of \(latencyOf); percentiles by nearest rank, the median with its 95 % interval."]
    if configurations.contains(where: { $0.total != nil }) {
      notes.append("First answer: from the start of a process; its parts are medians of their own.")
    }
    if configurations.contains(where: { $0.drift != nil }) {
      notes.append("Drift: throughput of the last third over that of the first.")
    }
    if configurations.contains(where: { $0.agreement != nil }) {
      notes.append(
        "Agreement: inputs with the same best class as the reference device; largest and mean difference of outputs."
      )
    }
    let energies = Set(configurations.filter { $0.energy != nil }.map(\.energySource)).subtracting([""]).sorted()
    if !energies.isEmpty { notes.append("Energy of one inference, \(energies.joined(separator: "; ")).") }
    let sources = Set(configurations.map(\.thermalSource)).subtracting([""]).sorted()
    if !sources.isEmpty { notes.append("Thermal state from: \(sources.joined(separator: "; ")).") }
    return "<p><small>\(notes.joined(separator: " "))</small></p>"
  }

  private static func seconds(_ value: Double?) -> Markup? { value.map { "\(HumanReadable.seconds($0))" } }

  static func state(_ state: ThermalState) -> Markup { "<span class=\"state s\(state.rawValue)\">\(state.name)</span>" }

  private static func agreement(_ agreement: ReportAgreement) -> Markup {
    let best = agreement.top1.map { "top-1 \(HumanReadable.percent($0, decimals: $0 == 1 ? 0 : 1))" } ?? "outputs"
    let largest = HumanReadable.significant(agreement.largestDifference)
    let mean = HumanReadable.significant(agreement.meanDifference)
    return "\(best) of \(counted(agreement.inputs, "input"))<br><small>max Δ \(largest)<br>mean Δ \(mean)</small>"
  }
}
