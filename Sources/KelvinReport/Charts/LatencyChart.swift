import KelvinBasics
import KelvinMeasurements

/// Charts of latency over time, one for each configuration. Measured configurations share one scale, simulated ones
/// another. Below each, on the same time axis, are the thermal headroom and state. Disturbances and a governor's
/// actions are marked.
enum LatencyChart {
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
    let groups = [false, true].map { isSimulated in charts(series.filter { $0.isSimulated == isSimulated }) }
    return """
      <section id="heat"><h2>Latency over time, and heat</h2><p class="key"><span>line: median</span>\
      <span>band: up to p90</span><span>dashed: fitted decay</span><span><svg width="16" height="12" \
      aria-hidden="true"><rect width="16" height="12" style="fill:var(--wait)"/></svg>disturbed by others</span>\
      <span>numbered: what the governor did</span></p>\(groups.flatMap { $0 })</section>
      """
  }

  /// Draws charts with common axes.
  private static func charts(_ series: [ReportSeries]) -> [Markup] {
    let reduced = series.map { reduce($0.points) }
    let highest = reduced.flatMap { $0.map(\.p90) }.max() ?? 0
    let times = series.flatMap { $0.points.map(\.at) + $0.heat.map(\.at) + $0.actions.map(\.at) }
    let value = ChartAxis(upTo: highest, about: 3)
    let time = ChartAxis(upToTime: times.filter(\.isFinite).max() ?? 0, about: 8)
    return zip(series, reduced).map { draw($0, $1, value: value, time: time) }
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

  /// Draws the chart of one series with axes of its own.
  ///
  /// - Parameters:
  ///   - series: The series.
  ///   - heading: The heading in place of the series' units.
  ///   - until: The end of the time axis in seconds, if it is after the last point.
  ///   - more: Returns rows for the same time axis, which are below the latency.
  static func panel(
    _ series: ReportSeries, heading: String, until: Double, more: (ChartAxis) -> Markup
  ) -> Markup {
    let points = reduce(series.points)
    let times = series.points.map(\.at) + series.heat.map(\.at) + series.actions.map(\.at) + [until]
    let values = points.map(\.p90) + [series.deadline ?? 0]
    return draw(
      series, points, heading: heading, value: ChartAxis(upTo: values.filter(\.isFinite).max() ?? 0, about: 3),
      time: ChartAxis(upToTime: times.filter(\.isFinite).max() ?? 0, about: 8), more: more)
  }

  private static func draw(
    _ series: ReportSeries, _ points: [Window], heading: String? = nil, value: ChartAxis, time: ChartAxis,
    more: (ChartAxis) -> Markup = { _ in "" }
  ) -> Markup {
    let source: Markup = series.heatSource.isEmpty ? "" : "<p><small>Heat: \(series.heatSource)</small></p>"
    let simulated: Markup = series.isSimulated ? " <span class=\"tag\">simulated</span>" : ""
    let actions: [Markup] = series.actions.filter { $0.at.isFinite }.prefix(mostActions).map { action in
      "<li>\(HumanReadable.seconds(action.at)): <b>\(action.name)</b>, \(action.cause)</li>"
    }
    let rest = series.actions.count - actions.count
    let omitted: Markup = rest > 0 ? "<p><small>\(rest) more are in the trace.</small></p>" : ""
    return """
      <div class="panel"><h3>\(heading ?? series.units)\(simulated) <small>\(decay(series.fit))</small></h3>\
      \(latency(series, points, value: value, time: time))\(more(time))\(HeatChart.rows(series, time: time))\
      \(AxisScale.below(time))\(actions.isEmpty ? "" : "<ol class=\"actions\">\(actions)</ol>\(omitted)" as Markup)\
      \(source)</div>
      """
  }

  private static let mostActions = 40

  private static func latency(
    _ series: ReportSeries, _ points: [Window], value: ChartAxis, time: ChartAxis
  ) -> Markup {
    func x(_ seconds: Double) -> Double { time.position(seconds, from: 0, length: 1000) }
    func y(_ seconds: Double) -> Double { 8 + (plot - 16) * (1 - value.share(seconds)) }
    let labels: [Markup] = value.ticks.map { tick in
      "<text x=\"100%\" dx=\"-8\" y=\"\(y(tick) + 4)\" text-anchor=\"end\">\(HumanReadable.seconds(tick))</text>"
    }
    let lines: [Markup] = value.ticks.map { tick in
      "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"\(y(tick))\" y2=\"\(y(tick))\"/>"
    }
    let medians = ChartCurve.through(points.map { (x($0.at), y($0.p50)) })
    let ninetieths = ChartCurve.through(points.map { (x($0.at), y($0.p90)) }).reversed()
    var curves: Markup = """
      <polygon class="band" points="\(medians + ninetieths)"/><polyline class="curve" points="\(medians)"/>
      """
    if let fit = series.fit, fit.finding != .noDecay, let last = points.last?.at {
      let curve: [Markup] = (0...60).map { step in
        let at = last * Double(step) / 60
        return " \(x(at)),\(y(fit.latency(after: at)))"
      }
      curves += "<polyline class=\"fit\" points=\"\(curve)\"/>"
    }
    let deadline: Markup =
      series.deadline.map { seconds in
        """
        <g><line class="limit" x1="0" x2="100%" y1="\(y(seconds))" y2="\(y(seconds))"/>\
        <text x="4" y="\(y(seconds) - 4)">deadline</text></g>
        """
      } ?? ""
    return """
      <div class="grid2"><svg width="100%" height="\(plot)" aria-hidden="true">\(labels)</svg>\
      <svg class="chart" width="100%" height="\(plot)" role="img" aria-label="Latency over time of \(series.units)">\
      \(disturbances(series, time: time, height: plot))\(lines)\
      <svg width="100%" height="\(plot)" viewBox="0 0 1000 \(plot)" preserveAspectRatio="none">\(curves)</svg>\
      \(deadline)\(actions(series, time: time, height: plot, numbers: true))</svg></div>
      """
  }

  static func disturbances(_ series: ReportSeries, time: ChartAxis, height: Double) -> [Markup] {
    series.disturbances.filter { $0.from.isFinite && $0.to.isFinite && $0.to >= $0.from }.prefix(2000).map { stretch in
      let (from, to) = (time.share(stretch.from), time.share(stretch.to))
      return """
        <rect class="disturbed" x="\(share: from)" y="0" width="\(share: max(to - from, 0.001))" height="\(height)" \
        style="fill:var(--wait)"><title>others took processor time</title></rect>
        """
    }
  }

  static func actions(_ series: ReportSeries, time: ChartAxis, height: Double, numbers: Bool) -> [Markup] {
    series.actions.filter { $0.at.isFinite }.prefix(mostActions).enumerated().map { number, action in
      let x: Markup = "\(share: time.share(action.at))"
      let label: Markup =
        numbers
        ? """
        <circle class="pin" cx="\(x)" cy="9" r="8"/><text class="pin" x="\(x)" y="12.5">\(number + 1)</text>
        """ : ""
      return """
        <g><line class="action" x1="\(x)" x2="\(x)" y1="0" y2="\(height)"/>\(label)\
        <title>\(action.name): \(action.cause)</title></g>
        """
    }
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
