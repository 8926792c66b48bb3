import KelvinBasics
import KelvinPlanning

/// A drawing of consecutive layers of a placement as a graph. Each layer is a box with its device's colour, pattern and
/// letter; transfers are heavy lines. The drawing consists of pieces that wrap like words, so that it fits any width
/// and prints. All pieces are aligned on the spine, so that links continue from one piece to the next.
struct GraphDrawing {
  private let nodes: [Plan.Node]
  /// The index of the first drawn layer in the placement.
  private let start: Int
  /// The devices of the placement's layers, by layer name.
  private let devices: [String: String]
  /// The index of the placement on the page. The rows of its table have the identifiers `r<number>-<node>`.
  private let number: Int
  private let palette: ReportPalette
  private let layout: GraphLayout
  private let costliest: Double
  private var graph: LayeredGraph { layout.graph }
  private var metrics: GraphLayout.Metrics { layout.metrics }

  /// - Parameters:
  ///   - range: The layers to draw. Values from layers outside the range enter at ports.
  ///   - isCompact: Whether to draw squares instead of boxes.
  init(
    _ placement: ReportPlacement, _ range: Range<Int>, number: Int, isCompact: Bool, _ palette: ReportPalette
  ) {
    nodes = Array(placement.plan.nodes[range])
    start = range.lowerBound
    devices = Dictionary(placement.plan.nodes.map { ($0.name, $0.device) }) { first, _ in first }
    self.number = number
    self.palette = palette
    layout = GraphLayout(LayeredGraph(nodes), isCompact ? .compact : .full)
    costliest = placement.plan.nodes.compactMap(\.chosen?.seconds).filter(\.isFinite).max() ?? 0
  }

  var markup: Markup {
    guard !nodes.isEmpty else { return "" }
    let pieces = layout.pieces.map(piece)
    let omitted: Markup =
      graph.omittedLinks > 0 ? "<p><small>\(graph.omittedLinks) long links are not drawn.</small></p>" : ""
    let kind: Markup = isCompact ? "flow compact" : "flow"
    return """
      <div class="\(kind)" role="group" aria-label="Graph of \(nodes.count) layers">\(pieces)</div>\(omitted)
      """
  }

  private var isCompact: Bool { metrics.nodeWidth < 40 }

  private func piece(_ columns: Range<Int>) -> Markup {
    let items = columns.flatMap { graph.columns[$0] }
    let ends = items.map { (layout.y[$0], layout.height($0) / 2) }
    let sources = items.flatMap { graph.items[$0].left }.map { (layout.y[$0], 2.0) }
    // Leaves space for a transfer's label above its node, and for focus rings.
    let top = (ends + sources).map { $0.0 - $0.1 }.min().map { $0 - 14 } ?? -14
    let bottom = (ends + sources).map { $0.0 + $0.1 }.max().map { $0 + 5 } ?? 5
    let width = columns.reduce(0) { $0 + layout.width($1) }
    var links: Markup = ""
    var marks: [Markup] = []
    var x = 0.0
    for column in columns {
      defer { x += layout.width(column) }
      for item in graph.columns[column] {
        let y = layout.y[item] - top
        for source in graph.items[item].left { links += link(from: source, to: item, x: x, top: top, &marks) }
        links += tail(item, x: x, right: x + layout.width(column), y: y)
        switch graph.items[item].kind {
        case .node(let node): marks.append(box(node, x: x + metrics.gap, y: y))
        case .input(let name): marks.append(port(name, x: x + layout.width(column) - 12, y: y))
        case .bend: break
        }
      }
    }
    let size: Markup = "width:calc(var(--z)*\(width)px);height:calc(var(--z)*\(bottom - top)px)"
    return """
      <svg class="piece" viewBox="0 0 \(width) \(bottom - top)" style="\(size);\
      vertical-align:calc(var(--z)*-\(bottom)px)"><path class="link" d="\(links)"/>\(marks)</svg>
      """
  }

  /// Returns the path from the column's left edge to the item. The path of a transfer is added to `marks` instead.
  private func link(from source: Int, to item: Int, x: Double, top: Double, _ marks: inout [Markup]) -> Markup {
    let (from, to) = (layout.y[source] - top, layout.y[item] - top)
    let end = x + metrics.gap
    let turn = x + metrics.gap / 2
    let path: Markup = "M\(x) \(from)C\(turn) \(from) \(turn) \(to) \(end) \(to)"
    if case .node(let reader) = graph.items[item].kind, let maker = device(of: source),
      maker != nodes[reader].device
    {
      marks.append("<path class=\"move\" d=\"\(path)\"/>")
      return ""
    }
    return path
  }

  /// Returns the path from the item to the column's right edge.
  private func tail(_ item: Int, x: Double, right: Double, y: Double) -> Markup {
    guard !graph.items[item].right.isEmpty else { return "" }
    switch graph.items[item].kind {
    case .node: return "M\(right - GraphLayout.Metrics.margin) \(y)H\(right)"
    case .input: return "M\(right - 8) \(y)H\(right)"
    case .bend: return "M\(x + metrics.gap) \(y)H\(right)"
    }
  }

  /// Returns the device that holds the value that an item produces or carries; nil for the model's inputs.
  private func device(of item: Int) -> String? {
    var item = item
    while true {
      switch graph.items[item].kind {
      case .node(let node): return nodes[node].device
      case .input(let name): return devices[name]
      case .bend:
        guard let before = graph.items[item].left.first else { return nil }
        item = before
      }
    }
  }

  private func port(_ name: String, x: Double, y: Double) -> Markup {
    "<g class=\"port\"><circle cx=\"\(x)\" cy=\"\(y)\" r=\"4\"/><title>\(devices[name] == nil ? "input" : "from"): \(name)</title></g>"
  }

  private func box(_ index: Int, x: Double, y: Double) -> Markup {
    let node = nodes[index]
    let place = start + index
    let cost = cost(node)
    let (width, height) = (metrics.nodeWidth, metrics.nodeHeight)
    let top = y - height / 2
    let share = costliest > 0 ? min(max((node.chosen?.seconds ?? 0) / costliest, 0), 1) : 0
    var inside: Markup
    if isCompact {
      let radius = height / 2 - 3
      inside = """
        <rect x="\(x)" y="\(top)" width="\(width)" height="\(height - 5)" rx="4" style="\(palette.fill(node.device))"/>\
        <text class="mark" x="\(x + width / 2)" y="\(top + radius + 5.5)">\(palette.letter(node.device))</text>\
        <rect class="share" x="\(x)" y="\(top + height - 4)" width="\(width * share)" height="3"/>
        """
    } else {
      let room = 10
      let brief = Self.brief(node.op)
      let op = brief.count <= room ? brief : brief.prefix(room - 1) + "…"
      inside = """
        <rect class="body" x="\(x)" y="\(top)" width="\(width)" height="\(height)" rx="5"/>\
        <rect x="\(x)" y="\(top)" width="\(width)" height="\(height)" rx="5" \
        style="fill:\(palette.colour(node.device))" fill-opacity=".14"/>\
        <rect x="\(x)" y="\(top)" width="20" height="\(height)" rx="5" style="\(palette.fill(node.device))"/>\
        <text class="mark" x="\(x + 10)" y="\(y + 4)">\(palette.letter(node.device))</text>\
        <text class="\(op.count > 7 ? "op long" : "op" as Markup)" x="\(x + 25)" y="\(y - 3)">\(op)</text>\
        <text x="\(x + 25)" y="\(y + 9)">\(cost)</text>\
        <rect class="share" x="\(x + 22)" y="\(top + height - 5)" width="\((width - 26) * share)" height="3"/>
        """
    }
    inside += moves(node, x: x, y: y, top: top)
    let region = node.region.isEmpty ? "" : ", in \(HumanReadable.region(node.region, times: node.iterations))"
    let tip = "\(node.name) (\(node.op))\(region) runs on \(node.device): \(cost); \(node.reason)"
    return """
      <a class="node\(node.region.isEmpty ? "" : " inside" as Markup)" href="#r\(number)-\(place)" \
      data-n="\(place)" aria-label="\(tip)">\(inside)\
      <title>\(tip)</title></a>
      """
  }

  /// Draws the cost of the transfers to a node, at its entry.
  private func moves(_ node: Plan.Node, x: Double, y: Double, top: Double) -> Markup {
    guard !node.transfers.isEmpty else { return "" }
    let seconds = node.transfers.reduce(0) { $0 + $1.seconds }
    let routes = node.transfers.map { transfer in
      transfer.isSignal == true
        ? "\(transfer.value) starts \(transfer.to), \(HumanReadable.seconds(transfer.seconds))"
        : "\(transfer.value): \(transfer.from) → \(transfer.to), \(HumanReadable.bytes(transfer.bytes)), "
          + HumanReadable.seconds(transfer.seconds)
    }
    let label: Markup =
      isCompact ? "" : "<text class=\"cost\" x=\"\(x - 6)\" y=\"\(top - 3)\">⇄ \(HumanReadable.seconds(seconds))</text>"
    return """
      <g class="transfer"><path d="M\(x - 12) \(y)l6-6l6 6l-6 6z"/>\(label)\
      <title>\(routes.joined(separator: "\n"))</title></g>
      """
  }

  /// Abbreviates the words of an operator's name.
  private static func brief(_ op: String) -> String {
    let words = [("convolution", "conv"), ("normalization", "norm"), ("transpose", "transp"), ("_", " ")]
    return words.reduce(op) { $0.replacing($1.0, with: $1.1) }
  }

  private func cost(_ node: Plan.Node) -> String {
    guard let candidate = node.candidates.first(where: { $0.device == node.device }), let seconds = candidate.seconds
    else { return "—" }
    return (candidate.isMeasured ? "" : "≈ ") + HumanReadable.seconds(seconds)
  }
}
