import KelvinBasics

/// Bars of the frames per second that were answered, dropped and skipped, over time.
enum FrameRateChart {
  private static let plot = 96.0
  /// The largest number of bars. Intervals of longer runs are joined.
  private static let mostBars = 200

  private static let kinds: [(name: String, style: Markup, count: @Sendable (StreamPage.FrameRate) -> Int)] = [
    ("answered", "answered", { $0.answered }), ("dropped", "dropped", { $0.dropped }),
    ("skipped by the governor", "skipped", { $0.skipped }),
  ]

  private static func usable(_ rates: [StreamPage.FrameRate]) -> [StreamPage.FrameRate] {
    rates.filter { $0.at.isFinite && $0.at >= 0 && $0.seconds.isFinite && $0.seconds > 0 }
  }

  /// Returns the entries of the key for the kinds that occur.
  static func key(_ rates: [StreamPage.FrameRate]) -> [Markup] {
    kinds.filter { kind in rates.contains { kind.count($0) > 0 } }.map { kind in
      """
      <span><svg width="16" height="12" aria-hidden="true"><rect class="\(kind.style)" width="16" height="12"/></svg>\
      \(kind.name)</span>
      """
    }
  }

  /// Returns the row of bars for a time axis.
  static func rows(_ rates: [StreamPage.FrameRate], _ series: ReportSeries, time: ChartAxis) -> Markup {
    let bars = joined(usable(rates))
    guard !bars.isEmpty else { return "" }
    let most = bars.map { bar in Double(kinds.reduce(0) { $0 + $1.count(bar) }) / bar.seconds }.max() ?? 0
    let axis = ChartAxis(upTo: most, about: 3)
    func y(_ rate: Double) -> Double { 6 + (plot - 12) * (1 - axis.share(rate)) }
    let labels: [Markup] = axis.ticks.map { tick in
      "<text x=\"100%\" dx=\"-8\" y=\"\(y(tick) + 4)\" text-anchor=\"end\">\(label(tick)) /s</text>"
    }
    let lines: [Markup] = axis.ticks.map { tick in
      "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"\(y(tick))\" y2=\"\(y(tick))\"/>"
    }
    let marks: [Markup] = bars.map { bar in
      let start = time.share(bar.at)
      let width = max(time.share(bar.at + bar.seconds) - start, 0.0006)
      var below = 0.0
      let parts: [Markup] = kinds.compactMap { kind in
        let rate = Double(max(kind.count(bar), 0)) / bar.seconds
        guard rate > 0 else { return nil }
        defer { below += rate }
        return """
          <rect class="\(kind.style)" x="\(share: start)" y="\(y(below + rate))" width="\(share: width)" \
          height="\(y(below) - y(below + rate))"/>
          """
      }
      return "<g>\(parts)<title>\(description(of: bar))</title></g>"
    }
    return """
      <div class="grid2"><svg width="100%" height="\(plot)" aria-hidden="true">\(labels)</svg>\
      <svg class="chart" width="100%" height="\(plot)" role="img" aria-label="Frames per second over time">\(lines)\
      \(marks)\(LatencyChart.actions(series, time: time, height: plot, numbers: false))</svg></div>
      """
  }

  private static func label(_ tick: Double) -> String {
    tick == tick.rounded() ? HumanReadable.fixed(tick, decimals: 0) : HumanReadable.significant(tick)
  }

  private static func description(of bar: StreamPage.FrameRate) -> String {
    let parts = kinds.filter { $0.count(bar) > 0 }.map { kind in
      "\(HumanReadable.perSecond(Double(kind.count(bar)) / bar.seconds)) \(kind.name)"
    }
    return "\(HumanReadable.seconds(bar.at)): \(parts.isEmpty ? "no frames" : parts.joined(separator: ", "))"
  }

  private static func joined(_ rates: [StreamPage.FrameRate]) -> [StreamPage.FrameRate] {
    let size = (rates.count + mostBars - 1) / mostBars
    guard size > 1 else { return rates }
    return stride(from: 0, to: rates.count, by: size).map { start in
      var bar = rates[start]
      for rate in rates[(start + 1)..<min(start + size, rates.count)] {
        bar.seconds += rate.seconds
        bar.answered += rate.answered
        bar.dropped += rate.dropped
        bar.skipped += rate.skipped
      }
      return bar
    }
  }

  static let style: Markup = """
    .answered{fill:var(--d0)}.dropped{fill:var(--d4)}.skipped{fill:var(--d1)}
    """
}
