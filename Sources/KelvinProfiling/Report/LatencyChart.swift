/// Latency over time, one chart for each configuration on a common scale, with the thermal state underneath.
enum LatencyChart {
  private static let left = 88.0
  private static let width = 1040.0
  private static let plot = 150.0
  private static let windows = 200

  private struct Window {
    var at: Double
    var p50: Double
    var p90: Double
  }

  static func section(_ input: ReportInput) -> Markup {
    let series = input.series.filter { !$0.points.isEmpty }
    guard !series.isEmpty else { return "" }
    let reduced = series.map { reduce($0.points) }
    let highest = reduced.flatMap { $0.map(\.p90) }.max() ?? 0
    let longest = series.flatMap { [$0.points.map(\.at).max() ?? 0, $0.heat.map(\.at).max() ?? 0] }.max() ?? 0
    let value = ChartAxis(upTo: highest, about: 4)
    let time = ChartAxis(upToTime: longest, about: 8)
    let charts: [Markup] = zip(series, reduced).map { draw($0, $1, value: value, time: time) }
    let states: [Markup] = ThermalState.allCases.map { "<span>\(ConfigurationTable.state($0))</span>" }
    return """
      <section><h2>Latency over time</h2><div class="legend"><span>line: median</span><span>band: up to p90</span>\
      <span>dashed: fitted decay</span><span class="soft">strip: thermal state</span>\(states)</div>\(charts)</section>
      """
  }

  private static func reduce(_ points: [ReportSeries.Point]) -> [Window] {
    let usable = points.filter { $0.at.isFinite && $0.at >= 0 && $0.latency.isFinite && $0.latency >= 0 }
    guard let last = usable.map(\.at).max() else { return [] }
    let count = min(windows, max(1, usable.count / 5))
    let width = max(last, 1e-9) / Double(count)
    var groups = [[Double]](repeating: [], count: count)
    for point in usable { groups[min(count - 1, Int(point.at / width))].append(point.latency) }
    return groups.enumerated().compactMap { number, group in
      guard !group.isEmpty else { return nil }
      let sorted = group.sorted()
      return Window(
        at: (Double(number) + 0.5) * width, p50: LatencyStatistics.percentile(perMille: 500, ofSorted: sorted),
        p90: LatencyStatistics.percentile(perMille: 900, ofSorted: sorted))
    }
  }

  private static func draw(_ series: ReportSeries, _ points: [Window], value: ChartAxis, time: ChartAxis) -> Markup {
    let length = width - left - 34
    let base = 10 + plot
    let strip = base + 8
    let height = strip + 16 + 24
    func x(_ seconds: Double) -> Double { time.position(seconds, from: left, length: length) }
    func y(_ seconds: Double) -> Double { base - value.position(seconds, from: 0, length: plot) }

    var marks: [Markup] = value.ticks.map { tick in
      """
      <line class="grid" x1="\(left)" x2="\(width - 34)" y1="\(y(tick))" y2="\(y(tick))"/>\
      <text x="\(left - 8)" y="\(y(tick) + 4)" text-anchor="end">\(HumanReadable.seconds(tick))</text>
      """
    }
    marks += time.ticks.map { tick in
      "<text x=\"\(x(tick))\" y=\"\(height - 6)\" text-anchor=\"middle\">\(HumanReadable.seconds(tick))</text>"
    }
    let medians: [Markup] = points.map { " \(x($0.at)),\(y($0.p50))" }
    let ninetieths: [Markup] = points.reversed().map { " \(x($0.at)),\(y($0.p90))" }
    marks.append(
      """
      <polygon points="\(medians)\(ninetieths)" style="fill:var(--accent)" fill-opacity=".22"/>\
      <polyline points="\(medians)" style="stroke:var(--accent);fill:none" stroke-width="1.8"/>
      """)
    if let fit = series.fit, fit.finding != .noDecay, let last = points.last?.at {
      let curve: [Markup] = (0...60).map { step in
        let at = last * Double(step) / 60
        return " \(x(at)),\(y(fit.latency(after: at)))"
      }
      marks.append(
        """
        <polyline points="\(curve)" style="stroke:var(--ink);fill:none" stroke-width="1.4" stroke-dasharray="5 4"/>
        """)
    }
    marks.append(heatStrip(series.heat, x: x, y: strip, end: time.maximum))
    let source: Markup = series.heatSource.isEmpty ? "" : "<p><small>Heat: \(series.heatSource)</small></p>"
    return """
      <div class="panel"><h3>\(series.units) <small>\(decay(series.fit))</small></h3><div class="scroll">\
      <svg class="chart" viewBox="0 0 \(width) \(height)" role="img" aria-label="Latency over time of \(series.units)">\
      \(marks)</svg></div>\(source)</div>
      """
  }

  private static func heatStrip(
    _ heat: [ReportSeries.Heat], x: (Double) -> Double, y: Double, end: Double
  ) -> Markup {
    let ordered = heat.filter { $0.at.isFinite && $0.at >= 0 }.sorted { $0.at < $1.at }
    guard let last = ordered.last else { return "" }
    var marks: [Markup] = ["<text x=\"\(left - 8)\" y=\"\(y + 12)\" text-anchor=\"end\">heat</text>"]
    var index = 0
    while index < ordered.count {
      let state = ordered[index].state
      var next = index + 1
      while next < ordered.count, ordered[next].state == state { next += 1 }
      let start = x(ordered[index].at)
      let stop = x(next < ordered.count ? ordered[next].at : last.at)
      let width = max(stop - start, 1)
      let peak = ordered[index..<next].map(\.headroom).max() ?? 0
      let ink: Markup = state == .critical ? "fill:var(--t3ink)" : "fill:var(--ink)"
      let label: Markup =
        width > 58 ? "<text x=\"\(start + 5)\" y=\"\(y + 12)\" style=\"\(ink)\">\(state.name)</text>" : ""
      marks.append(
        """
        <g><rect x="\(start)" y="\(y)" width="\(width)" height="16" style="fill:var(--t\(state.rawValue))"/>\(label)\
        <title>\(state.name), headroom up to \(HumanReadable.fixed(peak, decimals: 2)) (1.0 is the limit)</title></g>
        """)
      index = next
    }
    return Markup(raw: marks.map(\.html).joined())
  }

  private static func decay(_ fit: DecayFit?) -> String {
    guard let fit else { return "" }
    guard fit.finding != .noDecay else { return fit.finding.rawValue }
    let stability = HumanReadable.fixed(fit.stability, decimals: 2)
    let interval = fit.stabilityInterval
    let range =
      "\(HumanReadable.fixed(interval.lower, decimals: 2)) to \(HumanReadable.fixed(interval.upper, decimals: 2))"
    let from = HumanReadable.seconds(fit.initial)
    let to = HumanReadable.seconds(fit.settled)
    let settled = fit.hasSettled ? "" : ", not settled within the run"
    let tau = HumanReadable.seconds(fit.timeConstant)
    return "\(fit.finding.rawValue): \(from) to \(to), τ \(tau), stability L₀/L∞ \(stability) (\(range))\(settled)"
  }
}
