/// One inference as it ran: a lane for each queue of each device and one for the transfers.
enum TimelineChart {
  /// Spans drawn on one timeline; the trace file has them all.
  static let mostSpans = 4000
  private static let left = 110.0
  private static let width = 1040.0
  private static let lane = 30.0

  static func section(_ input: ReportInput, _ palette: ReportPalette) -> Markup {
    let order = input.devices.map(\.id)
    let charts = input.timelines.compactMap { draw($0, palette, order: order) }
    guard !charts.isEmpty else { return "" }
    return "<section><h2>One inference, device by device</h2>\(charts)</section>"
  }

  private struct Lane: Hashable {
    var name: String
    /// Nil for the transfers, which come last.
    var device: String?
  }

  private static func draw(_ timeline: ReportTimeline, _ palette: ReportPalette, order: [String]) -> Markup? {
    let all = timeline.events.filter { $0.start.isFinite && $0.duration.isFinite && $0.duration >= 0 }
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
    let span = end - origin
    let axis = ChartAxis(upTo: span, about: 6)
    let height = lane * Double(lanes.count) + 40
    let length = width - left - 34

    var marks: [Markup] = axis.ticks.map { tick in
      let x = axis.position(tick, from: left, length: length)
      return """
        <line class="grid" x1="\(x)" x2="\(x)" y1="6" y2="\(height - 26)"/>\
        <text x="\(x)" y="\(height - 10)" text-anchor="middle">\(HumanReadable.seconds(tick))</text>
        """
    }
    var drawn = 0
    for (number, key) in lanes.enumerated() {
      let y = 8 + lane * Double(number)
      marks.append("<text class=\"strong\" x=\"0\" y=\"\(y + lane / 2 + 3)\">\(key.name)</text>")
      for event in (events[key] ?? []).prefix(mostSpans - drawn) {
        drawn += 1
        let x = axis.position(event.start - origin, from: left, length: length)
        let size = max(axis.position(event.duration, from: 0, length: length), 0.8)
        marks.append(spanMark(event, x: x, y: y, width: size, palette))
      }
    }
    let rest = events.values.reduce(0) { $0 + $1.count } - drawn
    let omitted: Markup = rest > 0 ? "<p><small>\(rest) more spans are in the trace.</small></p>" : ""
    return """
      <div class="panel"><h3>\(timeline.units) <small>\(HumanReadable.seconds(span))</small></h3><div class="scroll">\
      <svg class="chart" viewBox="0 0 \(width) \(height)" role="img" aria-label="Timeline of one inference on \
      \(timeline.units)">\(marks)</svg></div>\(omitted)</div>
      """
  }

  private static func laneOf(_ event: TraceEvent) -> Lane {
    if event.kind == .transfer { return Lane(name: "transfers", device: nil) }
    return Lane(name: event.queue == "0" ? event.device : "\(event.device) q\(event.queue)", device: event.device)
  }

  private static func spanMark(
    _ event: TraceEvent, x: Double, y: Double, width: Double, _ palette: ReportPalette
  ) -> Markup {
    let paint: Markup =
      event.kind == .wait ? "fill:url(#wait)" : palette.fill(event.device)
    let room = Int((width - 8) / 6.4)
    let label: Markup
    if room >= 7, event.kind != .wait {
      let text = event.name.count <= room ? event.name : event.name.prefix(room - 1) + "…"
      label = "<text class=\"inbar\" x=\"\(x + 4)\" y=\"\(y + lane / 2 + 2)\">\(text)</text>"
    } else {
      label = ""
    }
    return """
      <g><rect x="\(x)" y="\(y + 2)" width="\(max(width - 0.4, 0.6))" height="\(lane - 8)" rx="1.5" style="\(paint)"/>\
      \(label)<title>\(event.name), \(event.kind.rawValue) on \(event.device): \
      \(HumanReadable.seconds(event.duration))</title></g>
      """
  }
}
