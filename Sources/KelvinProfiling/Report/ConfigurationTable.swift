/// The comparison: one row a configuration, accuracy beside speed.
enum ConfigurationTable {
  static func section(_ input: ReportInput) -> Markup {
    guard !input.configurations.isEmpty else { return "" }
    let slowest = input.configurations.compactMap(\.p50).max() ?? 0
    let rows = input.configurations.map { row($0, slowest: slowest) }
    let sources = Set(input.configurations.map(\.thermalSource)).subtracting([""]).sorted()
    let source = sources.isEmpty ? "" : "Thermal state from: \(sources.joined(separator: "; "))."
    return """
      <section><h2>Configurations</h2>
      <div class="panel"><div class="scroll"><table class="cards">
      <thead><tr><th>Units</th><th>Load</th><th>Compile</th><th>First</th><th>p50</th><th>p90</th><th>Throughput</th>\
      <th>Drift</th><th>Thermal</th><th>Agreement<br>with reference</th></tr></thead>
      <tbody>\(rows)</tbody></table></div>
      <p><small>Latency of one inference; p50 and p90 by nearest rank, bar against the slowest p50. Drift: throughput \
      of the last third over that of the first. Agreement: inputs with the same best class as the reference device, \
      largest and mean difference of the outputs. \
      \(source)</small></p></div></section>
      """
  }

  private static func row(_ configuration: ReportConfiguration, slowest: Double) -> Markup {
    let tag: Markup = configuration.isRecommended ? " <span class=\"tag\">recommended</span>" : ""
    let comparison: Markup =
      configuration.comparison.isEmpty ? "" : "<br><small>\(configuration.comparison)</small>"
    let p50 = configuration.p50 ?? 0
    let width = slowest > 0 ? p50 / slowest * 100 : 0
    let bar: Markup = configuration.p50 == nil ? "" : "<div class=\"bar\" style=\"width:\(width)%\"></div>"
    var remarks: [Markup] = []
    if configuration.dropped > 0 { remarks.append("<br><small>\(configuration.dropped) dropped</small>") }
    if configuration.disturbedWindows > 0 {
      remarks.append("<br><small>\(configuration.disturbedWindows) windows disturbed</small>")
    }
    let samples: Markup = configuration.samples > 0 ? "<br><small>n = \(configuration.samples)</small>" : ""
    let throughput = configuration.throughput.map(HumanReadable.perSecond) ?? "—"
    return """
      <tr\(configuration.isRecommended ? " class=\"best\"" : "" as Markup)>\
      <td data-label="Units"><div><b>\(configuration.units)</b>\(tag)\(comparison)</div></td>\
      <td data-label="Load">\(seconds(configuration.load))</td>\
      <td data-label="Compile">\(seconds(configuration.compile))</td>\
      <td data-label="First">\(seconds(configuration.first))</td>\
      <td data-label="p50"><div><b>\(seconds(configuration.p50))</b>\(bar)</div></td>\
      <td data-label="p90"><div>\(seconds(configuration.p90))\(samples)</div></td>\
      <td data-label="Throughput"><div>\(throughput)\(remarks)</div></td>\
      <td data-label="Drift">\(configuration.drift.map { HumanReadable.fixed($0, decimals: 2) } ?? "—")</td>\
      <td data-label="Thermal">\(state(configuration.thermal))</td>\
      <td data-label="Agreement"><div>\(agreement(configuration.agreement))</div></td></tr>
      """
  }

  private static func seconds(_ value: Double?) -> String { value.map(HumanReadable.seconds) ?? "—" }

  static func state(_ state: ThermalState?) -> Markup {
    guard let state else { return "—" }
    return "<span class=\"state s\(state.rawValue)\">\(state.name)</span>"
  }

  private static func agreement(_ agreement: ReportAgreement?) -> Markup {
    guard let agreement else { return "not measured" }
    let best = agreement.top1.map { "top-1 \(HumanReadable.percent($0, decimals: $0 == 1 ? 0 : 1))" } ?? "outputs"
    let largest = HumanReadable.significant(agreement.largestDifference)
    let mean = HumanReadable.significant(agreement.meanDifference)
    return "\(best) of \(agreement.inputs)<br><small>max Δ \(largest)<br>mean Δ \(mean)</small>"
  }
}
