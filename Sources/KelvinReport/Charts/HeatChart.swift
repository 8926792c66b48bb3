import KelvinBasics
import KelvinThermal

/// Charts of the thermal headroom, over bands of the thermal states, and of the state over time.
enum HeatChart {
  private static let heatPlot = 118.0

  static func rows(_ series: ReportSeries, time: ChartAxis) -> Markup {
    let ordered = series.heat.filter { $0.at.isFinite && $0.at >= 0 }.sorted { $0.at < $1.at }
    guard let last = ordered.last else { return "" }
    return "\(headroom(ordered, series, time: time))\(strip(ordered, until: last.at, time: time))"
  }

  private static func headroom(
    _ heat: [ReportSeries.Heat], _ series: ReportSeries, time: ChartAxis
  ) -> Markup {
    let known = heat.filter { $0.headroom.isFinite }
    guard !known.isEmpty else { return "" }
    let top = max(1.15, (known.map(\.headroom).max() ?? 0) * 1.05)
    func y(_ headroom: Double) -> Double { 4 + (heatPlot - 8) * (1 - min(max(headroom / top, 0), 1)) }
    let limits = [0] + ThermalStateFilter.headroomLimits + [top]
    var bands: [Markup] = []
    var labels: [Markup] = []
    for (state, (low, high)) in zip(ThermalState.allCases, zip(limits, limits.dropFirst())) {
      bands.append(
        """
        <rect class="state\(state.rawValue)" x="0" y="\(y(high))" width="100%" height="\(y(low) - y(high))"/>
        """)
      if state != .nominal {
        labels.append(
          """
          <text x="100%" dx="-8" y="\(y(low) + 4)" text-anchor="end">\(HumanReadable.fixed(low, decimals: 2))</text>
          """
        )
      }
    }
    let stride = max(1, known.count / 1000)
    let points = ChartCurve.through(
      known.enumerated().filter { $0.offset % stride == 0 }.map { _, point in
        (time.position(point.at, from: 0, length: 1000), y(point.headroom))
      })
    return """
      <div class="grid2"><svg width="100%" height="\(heatPlot)" aria-hidden="true">\
      <text class="strong" x="0" y="\(heatPlot - 6)">headroom</text>\(labels)</svg>\
      <svg class="chart" width="100%" height="\(heatPlot)" role="img" aria-label="Thermal headroom over time">\(bands)\
      <line class="limit" x1="0" x2="100%" y1="\(y(1))" y2="\(y(1))"/>\
      <svg width="100%" height="\(heatPlot)" viewBox="0 0 1000 \(heatPlot)" preserveAspectRatio="none">\
      <polyline class="headroom" points="\(points)"/></svg>\
      \(LatencyChart.actions(series, time: time, height: heatPlot, numbers: false))</svg></div>
      """
  }

  private static func strip(_ heat: [ReportSeries.Heat], until end: Double, time: ChartAxis) -> Markup {
    var marks: [Markup] = []
    var index = 0
    while index < heat.count {
      let state = heat[index].state
      var next = index + 1
      while next < heat.count, heat[next].state == state { next += 1 }
      let start = time.share(heat[index].at)
      let width = max(time.share(next < heat.count ? heat[next].at : end) - start, 0.001)
      let peak = heat[index..<next].map(\.headroom).filter(\.isFinite).max() ?? 0
      let name = width > 0.09 ? state.name : width > 0.02 ? String(state.name.prefix(1)) : ""
      marks.append(
        """
        <g><rect class="state\(state.rawValue)" x="\(share: start)" y="2" width="\(share: width)" height="18"/>\
        <text class="in\(state.rawValue)" x="\(share: start)" dx="5" y="15">\(name)</text><title>\(state.name), \
        headroom up to \(HumanReadable.fixed(peak, decimals: 2)) (1.0 is the limit)</title></g>
        """)
      index = next
    }
    return """
      <div class="grid2"><svg width="100%" height="22" aria-hidden="true"><text class="strong" x="0" y="15">state\
      </text></svg><svg class="chart" width="100%" height="22" role="img" aria-label="Thermal state over time">\
      \(marks)</svg></div>
      """
  }
}
