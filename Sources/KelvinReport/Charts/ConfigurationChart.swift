import KelvinBasics
import KelvinMeasurements

/// A comparison of configurations: latency with its confidence interval and percentiles, and the time to the first
/// answer.
enum ConfigurationChart {
  /// - Parameter latencyOf: The subject of the latencies in words.
  static func draw(_ configurations: [ReportConfiguration], latencyOf: String) -> Markup {
    [latency(configurations, of: latencyOf), start(configurations)].reduce(into: "" as Markup) { $0 += $1 }
  }

  private static func latency(_ configurations: [ReportConfiguration], of what: String) -> Markup {
    let shown = configurations.filter { $0.p50?.isFinite == true }
    let most = shown.flatMap { [$0.p50, $0.p90, $0.p99].compactMap { $0 } }.filter(\.isFinite).max() ?? 0
    guard most > 0 else { return "" }
    let axis = ChartAxis(upTo: most, about: 4)
    let rows: [Markup] = shown.map { configuration in
      let p50 = configuration.p50 ?? 0
      var marks: [Markup] = grid(axis, height: 30)
      if let p99 = configuration.p99 {
        marks.append(line(axis.share(p50), axis.share(p99), y: 15, kind: "tail99"))
      }
      if let p90 = configuration.p90 {
        marks.append(line(axis.share(p50), axis.share(p90), y: 15, kind: "tail90"))
        let x: Markup = "\(share: axis.share(p90))"
        marks.append("<line class=\"tick\" x1=\"\(x)\" x2=\"\(x)\" y1=\"9\" y2=\"21\"/>")
      }
      if let interval = configuration.p50Interval {
        marks.append(line(axis.share(interval.lower), axis.share(interval.upper), y: 15, kind: "interval"))
      }
      marks.append("<circle class=\"median\" cx=\"\(share: axis.share(p50))\" cy=\"15\" r=\"5.5\"/>")
      return row(configuration, "<svg width=\"100%\" height=\"30\">\(marks)</svg>", HumanReadable.seconds(p50))
    }
    return """
      <div class="panel rows" role="group" aria-label="Latency of \(what)"><h3>Latency of \(what)</h3>\(rows)\
      \(scale(axis))<p class="key"><span>dot: median</span><span>thick: its interval</span>\
      <span>tick: 90th percentile</span><span>thin: 99th</span></p></div>
      """
  }

  private static func start(_ configurations: [ReportConfiguration]) -> Markup {
    let shown = configurations.filter { ($0.total ?? $0.first)?.isFinite == true }
    func parts(_ configuration: ReportConfiguration) -> [(number: Int, name: String, seconds: Double)] {
      [
        ("launch", configuration.launch), ("load", configuration.load), ("compile", configuration.compile),
        ("first inference", configuration.first),
      ].enumerated().compactMap { number, part in
        part.1.map { (number, part.0, $0.isFinite ? max($0, 0) : 0) }
      }
    }
    // The medians of the parts need not add up to the median of the total.
    func total(_ configuration: ReportConfiguration) -> Double {
      configuration.total ?? parts(configuration).reduce(0) { $0 + $1.seconds }
    }
    let axis = ChartAxis(upTo: shown.map(total).max() ?? 0, about: 4)
    guard shown.contains(where: { total($0) > 0 }) else { return "" }
    let rows: [Markup] = shown.map { configuration in
      let bars = stack(
        parts(configuration).map { ($0.number, $0.seconds, "\($0.name): \(HumanReadable.seconds($0.seconds))") }, axis)
      return row(
        configuration, "<svg width=\"100%\" height=\"30\">\(grid(axis, height: 30))\(bars)</svg>",
        HumanReadable.seconds(total(configuration)))
    }
    let key = key(["launch", "load", "compile", "first inference"])
    return """
      <div class="panel rows" role="group" aria-label="From the start to the first answer">\
      <h3>From the start to the first answer</h3>\(rows)\(scale(axis))<p class="key">\(key)</p></div>
      """
  }

  static func row(_ configuration: ReportConfiguration, _ drawing: Markup, _ value: String) -> Markup {
    let tag: Markup = configuration.isRecommended ? " <span class=\"tag\">pick</span>" : ""
    return """
      <div class="row\(configuration.isRecommended ? " best" : "" as Markup)"><span class="name">\
      \(configuration.units)\(tag)</span>\(drawing)<b>\(value)</b></div>
      """
  }

  /// Returns a bar for each part, one after the other, with its title.
  static func stack(_ parts: [(number: Int, seconds: Double, title: String)], _ axis: ChartAxis) -> [Markup] {
    var x = 0.0
    return parts.map { part in
      defer { x += max(part.seconds, 0) }
      return """
        <rect class="part part\(part.number)" x="\(share: axis.share(x))" y="7" \
        width="\(share: axis.share(max(part.seconds, 0)))" height="16"><title>\(part.title)</title></rect>
        """
    }
  }

  /// Returns the legend of the parts of a `stack`.
  static func key(_ names: [String]) -> [Markup] {
    names.enumerated().map { number, name in
      """
      <span><svg width="12" height="12" aria-hidden="true"><rect class="part part\(number)" width="12" height="12"/>\
      </svg>\(name)</span>
      """
    }
  }

  private static func line(_ from: Double, _ to: Double, y: Double, kind: Markup) -> Markup {
    "<line class=\"\(kind)\" x1=\"\(share: from)\" x2=\"\(share: to)\" y1=\"\(y)\" y2=\"\(y)\"/>"
  }

  static func grid(_ axis: ChartAxis, height: Double) -> [Markup] {
    axis.ticks.map { tick in
      let x: Markup = "\(share: axis.share(tick))"
      return "<line class=\"grid\" x1=\"\(x)\" x2=\"\(x)\" y1=\"0\" y2=\"\(height)\"/>"
    }
  }

  /// Returns the tick labels below a chart of rows.
  static func scale(_ axis: ChartAxis) -> Markup {
    return """
      <div class="row scale" aria-hidden="true"><span></span><svg width="100%" height="16">\
      \(AxisScale.texts(axis, y: 12))</svg><span></span></div>
      """
  }
}
