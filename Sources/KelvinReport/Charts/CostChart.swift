import KelvinBasics
import KelvinPlanning

/// Charts per layer on a common axis. From top to bottom they show the plan's cost with transfers, the cost on every
/// device on a logarithmic scale, the chosen device, and the devices that cannot run the layer. Repeated layers are
/// drawn once.
struct CostChart {
  private static let barHeight = 84.0
  private static let dotHeight = 130.0
  private static let laneHeight = 18.0
  private static let top = 22.0

  private let nodes: [Plan.Node]
  /// The index of each drawn layer in the placement.
  private let places: [Int]
  private let devices: [String]
  private let number: Int
  private let palette: ReportPalette
  private let column: Double

  init(
    _ placement: ReportPlacement, upTo count: Int, number: Int, devices: [String], _ palette: ReportPalette
  ) {
    var (places, repeats): ([Int], [Bracket]) = ([], [])
    for stretch in RepeatedBlock.stretches(placement.blocks, of: count) {
      switch stretch {
      case .plain(let range): places += range
      case .repeated(let block):
        repeats.append(
          Bracket(
            columns: places.count..<places.count + block.period, name: "× \(block.count)",
            tip: BlockHeading(block, placement.plan.nodes).text))
        places += block.times[0]
      }
    }
    let shown = places.map { placement.plan.nodes[$0] }
    let regions = RegionRun.runs(shown).filter { !$0.region.isEmpty }.map { run in
      Bracket(columns: run.nodes, name: run.region, tip: run.heading)
    }
    self.places = places
    nodes = shown
    brackets = [("inside", regions), ("repeats", repeats)].filter { !$0.1.isEmpty }
    self.devices = devices
    self.number = number
    self.palette = palette
    column = min(max(920 / Double(max(nodes.count, 1)), 9), 28)
  }

  private var dotTop: Double { Self.top + Self.barHeight + 40 }
  private var laneTop: Double { dotTop + Self.dotHeight + 14 }
  /// Brackets around layers that belong together, in rows with a title each.
  private let brackets: [(title: String, rows: [Bracket])]

  private struct Bracket {
    var columns: Range<Int>
    var name: String
    var tip: String
  }

  private var impossible: [String] {
    devices.filter { device in
      nodes.contains { node in node.candidates.contains { $0.device == device && $0.seconds == nil } }
    }
  }

  var markup: Markup {
    guard !nodes.isEmpty, !devices.isEmpty else { return "" }
    let linear = ChartAxis(upTo: nodes.map { total($0) }.filter(\.isFinite).max() ?? 0, about: 2)
    let logarithmic = LogarithmicAxis(nodes.flatMap { $0.candidates.compactMap(\.seconds) })
    let width = column * Double(nodes.count) + 8
    let lanes = impossible
    let bracketTop = laneTop + Self.laneHeight * Double(lanes.count + 1)
    let height = bracketTop + Self.laneHeight * Double(brackets.count) + 6

    var axis: [Markup] = [
      "<text class=\"strong\" x=\"0\" y=\"12\">in this plan</text>",
      "<text class=\"strong\" x=\"0\" y=\"\(dotTop - 14)\">everywhere</text>",
      "<text class=\"strong\" x=\"0\" y=\"\(laneTop + 13)\">runs on</text>",
    ]
    var grid: [Markup] = []
    func tick(_ y: Double, _ text: String) {
      axis.append("<text x=\"84\" y=\"\(y + 4)\" text-anchor=\"end\">\(text)</text>")
      grid.append("<line class=\"grid\" x1=\"0\" x2=\"\(width)\" y1=\"\(y)\" y2=\"\(y)\"/>")
    }
    for value in linear.ticks {
      tick(Self.top + Self.barHeight * (1 - linear.share(value)), HumanReadable.seconds(value))
    }
    for value in logarithmic.ticks {
      tick(dotTop + Self.dotHeight * (1 - logarithmic.share(value)), HumanReadable.seconds(value))
    }
    for (row, device) in lanes.enumerated() {
      let y = laneTop + Self.laneHeight * Double(row + 1)
      axis.append("<text x=\"0\" y=\"\(y + 13)\">not on \(palette.letter(device))</text>")
    }
    let belonging: [Markup] = brackets.enumerated().flatMap { row, line in
      let y = bracketTop + Self.laneHeight * Double(row)
      axis.append("<text x=\"0\" y=\"\(y + 13)\">\(line.title)</text>")
      return line.rows.map { bracket($0, y: y) }
    }
    let bars: [Markup] = nodes.enumerated().map { bar($1, at: $0, linear) }
    let marks: [Markup] = devices.enumerated().map { dots($1, shape: $0 % Self.shapes.count, logarithmic) }
    let crosses: [Markup] = lanes.enumerated().map { row, device in
      cross(device, y: laneTop + Self.laneHeight * (Double(row) + 1.5))
    }
    let hits: [Markup] = nodes.enumerated().map { hit($1, at: $0, height: height) }
    return """
      <div class="scroll plot" tabindex="0" role="group" aria-label="Cost of each layer on every device">\
      <svg class="axis" width="92" height="\(height)" aria-hidden="true">\(axis)</svg>\
      <svg class="chart costs" width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)" \
      preserveAspectRatio="none">\(grid)\(bars)\(marks)\(runs())\(crosses)\
      \(belonging)\(hits)</svg>\
      </div><p class="key">\(key())</p>
      """
  }

  private func total(_ node: Plan.Node) -> Double {
    (node.chosen?.seconds ?? 0) + node.transfers.reduce(0) { $0 + max($1.seconds, 0) }
  }

  private func bar(_ node: Plan.Node, at index: Int, _ axis: ChartAxis) -> Markup {
    let x = column * Double(index) + 1
    let base = Self.top + Self.barHeight
    var result: Markup = ""
    let layer = Self.barHeight * axis.share(node.chosen?.seconds ?? 0)
    if node.chosen?.seconds != nil {
      let isMeasured = node.chosen?.isMeasured ?? false
      let style: Markup =
        isMeasured
        ? palette.fill(node.device)
        : "fill:none;stroke:\(palette.colour(node.device));stroke-dasharray:2 2;stroke-width:1.5"
      result += """
        <rect x="\(x)" y="\(base - max(layer, 1))" width="\(column - 2)" height="\(max(layer, 1))" style="\(style)"/>
        """
    }
    let moving = Self.barHeight * axis.share(total(node)) - layer
    if !node.transfers.isEmpty, moving > 0 {
      result += """
        <rect class="moving" x="\(x)" y="\(base - layer - moving)" width="\(column - 2)" height="\(moving)"/>
        """
    }
    return result
  }

  /// Outlines around a point. The devices use them in turn: circle, square, triangle, diamond, and so on.
  private static let shapes: [@Sendable (Double, Double) -> Markup] = [
    { "M\($0 - 3.5) \($1)a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0" },
    { "M\($0 - 3.2) \($1 - 3.2)h6.4v6.4h-6.4z" },
    { "M\($0) \($1 - 4.2)l4 7.2h-8z" },
    { "M\($0) \($1 - 4.6)l4.6 4.6l-4.6 4.6l-4.6-4.6z" },
    { "M\($0) \($1 + 4.2)l4-7.2h-8z" },
    { "M\($0 - 4) \($1)h8M\($0) \($1 - 4)v8" },
  ]

  private func dots(_ device: String, shape: Int, _ axis: LogarithmicAxis) -> Markup {
    var (here, elsewhere, estimated): (Markup, Markup, Markup) = ("", "", "")
    for (index, node) in nodes.enumerated() {
      guard let candidate = node.candidates.first(where: { $0.device == device }), let seconds = candidate.seconds
      else { continue }
      let outline = Self.shapes[shape](
        column * (Double(index) + 0.5), dotTop + Self.dotHeight * (1 - axis.share(seconds)))
      if node.device == device {
        here += outline
      } else if candidate.isMeasured {
        elsewhere += outline
      } else {
        estimated += outline
      }
    }
    let colour = palette.colour(device)
    return """
      <path class="dot" d="\(estimated)" style="fill:none;stroke:\(colour);stroke-dasharray:1.5 1.5"/>\
      <path class="dot" d="\(elsewhere)" style="fill:var(--panel);stroke:\(colour)"/>\
      <path class="dot" d="\(here)" style="fill:\(colour);stroke:var(--ink)"/>
      """
  }

  /// Draws the device of each run of consecutive layers.
  private func runs() -> [Markup] {
    var marks: [Markup] = []
    var first = 0
    while first < nodes.count {
      var next = first + 1
      while next < nodes.count, nodes[next].device == nodes[first].device { next += 1 }
      let device = nodes[first].device
      let x = column * Double(first)
      let width = column * Double(next - first) - 1
      marks.append(
        "<rect x=\"\(x)\" y=\"\(laneTop)\" width=\"\(width)\" height=\"16\" style=\"\(palette.fill(device))\"/>")
      if width >= 9 {
        marks.append(
          "<text class=\"mark\" x=\"\(x + width / 2)\" y=\"\(laneTop + 12)\">\(palette.letter(device))</text>")
      }
      first = next
    }
    return marks
  }

  /// Draws a bracket with as much of its name as fits.
  private func bracket(_ bracket: Bracket, y: Double) -> Markup {
    let x = column * Double(bracket.columns.lowerBound) + 1
    let width = column * Double(bracket.columns.count) - 2
    let room = Int(width / 7.5)
    let name =
      bracket.name.count <= room ? bracket.name : room < 5 ? "" : "…" + bracket.name.suffix(room - 1)
    return """
      <g><rect class="inside" x="\(x)" y="\(y)" width="\(width)" height="16" rx="3"/>\
      <text x="\(x + 4)" y="\(y + 12)">\(name)</text><title>\(bracket.tip)</title></g>
      """
  }

  private func cross(_ device: String, y: Double) -> Markup {
    var path: Markup = ""
    for (index, node) in nodes.enumerated()
    where node.candidates.contains(where: { $0.device == device && $0.seconds == nil }) {
      let x = column * (Double(index) + 0.5)
      path += "M\(x - 3) \(y - 3)l6 6M\(x + 3) \(y - 3)l-6 6"
    }
    return "<path class=\"cannot\" d=\"\(path)\"/>"
  }

  /// Draws a transparent area over a layer's column, with a tooltip.
  private func hit(_ node: Plan.Node, at index: Int, height: Double) -> Markup {
    let costs = node.candidates.map { candidate in
      guard let seconds = candidate.seconds else {
        return "\(candidate.device): cannot, \(candidate.unsupported ?? "no reason given")"
      }
      return "\(candidate.device): \(candidate.isMeasured ? "" : "≈ ")\(HumanReadable.seconds(seconds))"
    }
    return """
      <rect class="hit" data-n="\(places[index])" x="\(column * Double(index))" y="0" width="\(column)" height="\(height)">\
      <title>\((["\(node.name) (\(node.op)) on \(node.device)"] + costs).joined(separator: "\n"))</title></rect>
      """
  }

  private func key() -> [Markup] {
    let shapes: [Markup] = devices.enumerated().map { number, device in
      """
      <span><svg width="12" height="12" aria-hidden="true"><path d="\(Self.shapes[number % Self.shapes.count](6, 6))" \
      style="fill:\(palette.colour(device));stroke:\(palette.colour(device))"/></svg>\(device)</span>
      """
    }
    return shapes + [
      "<span>filled: runs there</span><span>hollow: measured elsewhere</span><span>dotted: estimated</span>",
      """
      <span><svg width="12" height="12" aria-hidden="true"><rect class="moving" width="12" height="12"/></svg>\
      transfers</span>
      """,
    ]
  }
}
