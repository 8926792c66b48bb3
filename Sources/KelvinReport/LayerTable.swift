import KelvinBasics
import KelvinPlanning

/// A table with a row for each layer: its cost on every device, with bars, its transfers, its regret and the reason for
/// its placement. Repeated layers are shown once, and in full on request.
enum LayerTable {
  /// - Parameter count: The number of layers to show.
  static func draw(
    _ placement: ReportPlacement, upTo count: Int, number: Int, columns: [String], _ palette: ReportPalette
  ) -> Markup {
    let nodes = placement.plan.nodes
    let moves = nodes.prefix(count).contains { !$0.transfers.isEmpty }
    let head: [Markup] = columns.map { "<th scope=\"col\">\(palette.chip($0))</th>" }
    let width = columns.count + 4 + (moves ? 1 : 0)
    func heading(_ text: Markup) -> Markup {
      "<tr class=\"region\"><th scope=\"rowgroup\" colspan=\"\(width)\">\(text)</th></tr>"
    }
    func groups(_ range: Range<Int>, under title: Markup? = nil, kind: Markup = "") -> [Markup] {
      RegionRun.runs(nodes, in: range).map { run in
        let rows = run.nodes.map { row(nodes[$0], id: "r\(number)-\($0)", columns: columns, moves: moves, palette) }
        let region: Markup = run.region.isEmpty ? "" : heading("\(run.heading)")
        let block: Markup = run.nodes.lowerBound == range.lowerBound ? title.map(heading) ?? "" : ""
        let inside: Markup = title == nil && run.region.isEmpty ? "" : "inside"
        return "<tbody class=\"\(inside)\(kind)\">\(block)\(region)\(rows)</tbody>"
      }
    }
    let stretches = RepeatedBlock.stretches(placement.blocks, of: count)
    let rows = stretches.flatMap { stretch -> [Markup] in
      switch stretch {
      case .plain(let range): return groups(range)
      case .repeated(let block):
        return block.times.enumerated().flatMap { time, range in
          time == 0
            ? groups(range, under: "\(BlockHeading(block, nodes).text); the first time:", kind: " block")
            : groups(range, under: "time \(time + 1) of \(block.count)", kind: " more")
        }
      }
    }
    let all: Markup =
      placement.blocks.isEmpty
      ? ""
      : """
      <input type="checkbox" class="all" id="all\(number)"> \
      <label for="all\(number)">every layer of the blocks that repeat</label>
      """
    return """
      \(all)<div class="scroll tall" tabindex="0" role="group" aria-label="Layers"><table class="layers">
      <thead><tr><th scope="col">Layer</th><th scope="col" class="left">Runs on</th>\(head)\
      \(moves ? "<th scope=\"col\" class=\"left\">Transfers</th>" : "" as Markup)\
      <th scope="col">Regret</th><th scope="col" class="left">Reason</th></tr>\
      </thead>\(rows)</table></div>
      """
  }

  private static func row(
    _ node: Plan.Node, id: String, columns: [String], moves: Bool, _ palette: ReportPalette
  ) -> Markup {
    let most = node.candidates.compactMap(\.seconds).filter(\.isFinite).max() ?? 0
    let costs = columns.map { cost(of: node, on: $0, most: most, palette) }
    let transfers: [Markup] = node.transfers.map { transfer in
      if transfer.isSignal == true {
        let cost = HumanReadable.seconds(transfer.seconds)
        return "<div>\(breaking: transfer.value) starts \(transfer.to)<br><small>\(cost)</small></div>"
      }
      let cost = "\(HumanReadable.bytes(transfer.bytes)), \(HumanReadable.seconds(transfer.seconds))"
      return "<div>\(breaking: transfer.value): \(transfer.from) → \(transfer.to)<br><small>\(cost)</small></div>"
    }
    return """
      <tr id="\(id)" data-moves="\(node.transfers.isEmpty ? 0 : 1)"><th scope="row" title="\(node.name)">\
      \(breaking: node.name)<br><small>\(node.op)</small></th>\
      <td class="left">\(palette.chip(node.device))</td>\(costs)\
      \(moves ? "<td class=\"left wrap\">\(transfers)</td>" : "" as Markup)\
      <td>\(HumanReadable.seconds(node.regret))</td><td class="left wrap">\(node.reason)</td></tr>
      """
  }

  private static func cost(
    of node: Plan.Node, on device: String, most: Double, _ palette: ReportPalette
  ) -> Markup {
    guard let candidate = node.candidates.first(where: { $0.device == device }) else {
      return "<td class=\"no\">—</td>"
    }
    guard let seconds = candidate.seconds else {
      return "<td class=\"no\">cannot: \(candidate.unsupported ?? "no reason given")</td>"
    }
    let chosen: Markup = device == node.device ? "chosen" : ""
    let text = HumanReadable.seconds(seconds)
    let bar: Markup =
      """
      <i class="bar" style="width:\(share: most > 0 ? seconds / most : 0);background:\(palette.colour(device))"></i>
      """
    if candidate.isMeasured { return "<td class=\"\(chosen)\">\(text)\(bar)</td>" }
    return "<td class=\"\(chosen) est\" title=\"estimated\">≈ \(text)\(bar)</td>"
  }
}
