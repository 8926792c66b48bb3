import KelvinBasics
import KelvinMeasurements

/// A timeline of one inference: a lane for each queue of each device, and one for the transfers. Lines connect a
/// transfer to the lanes of its source and destination.
enum TimelineChart {
  /// The largest number of spans on one timeline; the trace file has them all.
  static let mostSpans = 4000
  private static let lane = 34.0
  /// The number of characters of 11 px that fit a plot of full width.
  private static let room = 140.0

  static func section(_ input: ReportInput, _ palette: ReportPalette) -> Markup {
    let order = input.devices.map(\.id)
    let charts = input.timelines.compactMap { draw($0, palette, order: order) }
    guard !charts.isEmpty else { return "" }
    return """
      <section id="timeline"><h2>One inference, device by device</h2>\(charts)\
      <p class="key"><span><svg width="16" height="12" aria-hidden="true"><rect width="16" height="12" \
      style="fill:var(--wait)"/></svg>waiting for a device</span><span><svg width="16" height="12" aria-hidden="true">\
      <rect class="moving" width="16" height="12"/></svg>copying a value</span></p></section>
      """
  }

  private struct Lane: Hashable {
    var name: String
    /// The device; nil for the lane of transfers, which is the last.
    var device: String?
  }

  private static func draw(_ timeline: ReportTimeline, _ palette: ReportPalette, order: [String]) -> Markup? {
    // Regions enclose the drawn work and are not drawn themselves.
    let all = timeline.events
      .filter { $0.kind != .region && $0.start.isFinite && $0.duration.isFinite && $0.duration >= 0 }
      .sorted { $0.start < $1.start }
    guard let origin = all.first?.start, let end = all.map(\.end).max(), end > origin else { return nil }
    var events: [Lane: [TraceEvent]] = [:]
    let detailed = Set(all.filter { $0.kind == .node }.map { laneOf($0) })
    for event in all where event.kind != .segment || !detailed.contains(laneOf(event)) {
      events[laneOf(event), default: []].append(event)
    }
    let place = Dictionary(order.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    func rank(_ lane: Lane) -> (Int, String) {
      (lane.device.map { place[$0] ?? order.count } ?? Int.max, lane.name)
    }
    let lanes = events.keys.sorted { rank($0) < rank($1) }
    let axis = ChartAxis(upTo: end - origin, about: 6)
    let height = lane * Double(lanes.count)
    func middle(_ device: String?) -> Double? {
      lanes.firstIndex { $0.device == device }.map { lane * (Double($0) + 0.5) }
    }

    var marks = ConfigurationChart.grid(axis, height: height)
    var labels: [Markup] = []
    var drawn = 0
    for (number, key) in lanes.enumerated() {
      let y = lane * Double(number)
      labels.append("<text class=\"strong\" x=\"0\" y=\"\(y + lane / 2 + 4)\">\(key.name)</text>")
      for event in (events[key] ?? []).prefix(mostSpans - drawn) {
        drawn += 1
        let (x, width) = (axis.share(event.start - origin), axis.share(event.duration))
        marks.append(span(event, x: x, y: y, width: width, palette))
        guard event.kind == .transfer, let own = middle(nil) else { continue }
        if let from = event.details["from"].flatMap({ middle($0) }) { marks.append(flow(x, from, x, own)) }
        if let to = middle(event.device) { marks.append(flow(x + width, own, x + width, to)) }
      }
    }
    let rest = events.values.reduce(0) { $0 + $1.count } - drawn
    let omitted: Markup = rest > 0 ? "<p><small>\(rest) more spans are in the trace.</small></p>" : ""
    return """
      <div class="panel"><h3>\(timeline.units) <small>\(HumanReadable.seconds(end - origin))</small></h3>\
      <div class="grid2"><svg class="axis" width="100%" height="\(height)" aria-hidden="true">\(labels)</svg>\
      <svg class="chart lanes" width="100%" height="\(height)" role="img" aria-label="Timeline of one inference on \
      \(timeline.units)">\(marks)</svg></div>\(AxisScale.below(axis))\(omitted)</div>
      """
  }

  private static func laneOf(_ event: TraceEvent) -> Lane {
    if event.kind == .transfer { return Lane(name: "transfers", device: nil) }
    return Lane(name: event.queue == "0" ? event.device : "\(event.device) q\(event.queue)", device: event.device)
  }

  private static func flow(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> Markup {
    "<line class=\"flowline\" x1=\"\(share: x1)\" x2=\"\(share: x2)\" y1=\"\(y1)\" y2=\"\(y2)\"/>"
  }

  private static func span(
    _ event: TraceEvent, x: Double, y: Double, width: Double, _ palette: ReportPalette
  ) -> Markup {
    let paint: Markup =
      switch event.kind {
      case .wait: "style=\"fill:var(--wait)\""
      case .transfer: "class=\"moving\""
      default: "style=\"\(palette.fill(event.device))\""
      }
    let room = Int(width * Self.room) - 1
    var label: Markup = ""
    if room >= 6, event.kind != .wait {
      let text = event.name.count <= room ? event.name : event.name.prefix(room - 1) + "…"
      label = "<text class=\"inbar\" x=\"\(share: x)\" dx=\"4\" y=\"\(y + lane / 2 + 4)\">\(text)</text>"
    }
    return """
      <g><rect x="\(share: x)" y="\(y + 4)" width="\(share: max(width, 0.0006))" height="\(lane - 8)" \(paint)/>\
      \(label)\
      <title>\(event.name), \(event.kind.rawValue) on \(event.device): \
      \(HumanReadable.seconds(event.duration))</title></g>
      """
  }
}
