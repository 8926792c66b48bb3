import KelvinBasics

/// A row for each layer: what it costs on every device, with bars, its transfers, its regret and the reason.
enum LayerTable {
  static func draw(_ nodes: [ReportNode], number: Int, columns: [String], _ palette: ReportPalette) -> Markup {
    let moves = nodes.contains { !$0.transfers.isEmpty }
    let head: [Markup] = columns.map { "<th scope=\"col\">\(palette.chip($0))</th>" }
    let width = columns.count + 4 + (moves ? 1 : 0)
    let groups = RegionRun.runs(nodes).map { run -> Markup in
      let rows = run.nodes.map { row(nodes[$0], id: "r\(number)-\($0)", columns: columns, moves: moves, palette) }
      let heading: Markup =
        run.region.isEmpty
        ? "" : "<tr class=\"region\"><th scope=\"rowgroup\" colspan=\"\(width)\">\(run.heading)</th></tr>"
      return "<tbody\(run.region.isEmpty ? "" : " class=\"inside\"" as Markup)>\(heading)\(rows)</tbody>"
    }
    return """
      <div class="scroll tall" tabindex="0" role="group" aria-label="Layers"><table class="layers">
      <thead><tr><th scope="col">Layer</th><th scope="col" class="left">Runs on</th>\(head)\
      \(moves ? "<th scope=\"col\" class=\"left\">Transfers</th>" : "" as Markup)\
      <th scope="col">Regret</th><th scope="col" class="left">Reason</th></tr>\
      </thead>\(groups)</table></div>
      """
  }

  private static func row(
    _ node: ReportNode, id: String, columns: [String], moves: Bool, _ palette: ReportPalette
  ) -> Markup {
    let most = node.candidates.compactMap(\.seconds).filter(\.isFinite).max() ?? 0
    let costs = columns.map { cost(of: node, on: $0, most: most, palette) }
    let transfers: [Markup] = node.transfers.map { transfer in
      if transfer.isSignal {
        let cost = HumanReadable.seconds(transfer.seconds)
        return "<div>\(transfer.value) starts \(transfer.to)<br><small>\(cost)</small></div>"
      }
      let cost = "\(HumanReadable.bytes(transfer.bytes)), \(HumanReadable.seconds(transfer.seconds))"
      return "<div>\(transfer.value): \(transfer.from) → \(transfer.to)<br><small>\(cost)</small></div>"
    }
    return """
      <tr id="\(id)" data-moves="\(node.transfers.isEmpty ? 0 : 1)"><th scope="row" title="\(node.name)">\
      \(node.name)<br><small>\(node.op)</small></th>\
      <td class="left">\(palette.chip(node.device))</td>\(costs)\
      \(moves ? "<td class=\"left wrap\">\(transfers)</td>" : "" as Markup)\
      <td>\(node.regret.map(HumanReadable.seconds) ?? "—")</td><td class="left wrap">\(node.reason)</td></tr>
      """
  }

  private static func cost(
    of node: ReportNode, on device: String, most: Double, _ palette: ReportPalette
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
