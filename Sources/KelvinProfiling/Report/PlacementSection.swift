/// Where every layer runs, what it would cost elsewhere, and why it runs where it does.
enum PlacementSection {
  /// Layers shown for one plan; a longer plan says how many are left out.
  static let mostLayers = 1500

  static func section(_ input: ReportInput, _ palette: ReportPalette) -> Markup {
    guard !input.placements.isEmpty else { return "" }
    let plans: [Markup] = input.placements.enumerated().map { number, placement in
      plan(placement, devices: input.devices, palette, isOpen: number == 0)
    }
    return """
      <section><h2>Placement</h2>\(plans)
      <p><small>≈ and italics: estimated, not measured. Regret: what the whole inference would lose with this layer on \
      its best other device and everything else re-planned.</small></p></section>
      """
  }

  private static func plan(
    _ placement: ReportPlacement, devices: [ReportDevice], _ palette: ReportPalette, isOpen: Bool
  ) -> Markup {
    let moves = placement.nodes.flatMap(\.transfers)
    let moved = moves.reduce(0.0) { $0 + Double(max($1.bytes, 0)) }
    let shown = Array(placement.nodes.prefix(mostLayers))
    let used = Set(placement.nodes.map(\.device) + placement.nodes.flatMap { $0.candidates.map(\.device) })
    let columns = devices.map(\.id).filter(used.contains)
    let head: [Markup] = columns.map { "<th>\(palette.chip($0))</th>" }
    let rows = shown.map { row($0, columns: columns, palette) }
    let rest = placement.nodes.count - shown.count
    let omitted: Markup = rest > 0 ? "<p>The first \(shown.count) layers; \(rest) more are in the JSON plan.</p>" : ""
    var facts: [Markup] = [fact("predicted", HumanReadable.seconds(placement.predicted))]
    if let measured = placement.measured {
      let error = HumanReadable.percent(placement.predicted / measured - 1)
      facts.append(fact("measured", "\(HumanReadable.seconds(measured)) (prediction off by \(error))"))
    }
    if let single = placement.bestSingleSeconds {
      facts.append(
        fact("best single device", "\(HumanReadable.seconds(single)) on \(placement.bestSingleDevice)"))
    }
    let size = HumanReadable.bytes(Int(min(moved, 1e18)))
    facts.append(fact("transfers", moves.isEmpty ? "none" : "\(moves.count), \(size)"))
    return """
      <details class="panel placement"\(isOpen ? " open" : "" as Markup)>\
      <summary>\(placement.units) <small>goal: \(placement.goal)</small></summary>
      <div class="facts">\(facts)</div>
      \(PlacementChart.draw(placement, devices: columns, palette))
      <div class="tools"><input type="search" placeholder="layer, operator, reason" aria-label="Filter layers"> \
      <label><input type="checkbox"> only layers that cause transfers</label> <output class="soft"></output></div>
      <div class="scroll tall"><table class="layers">
      <thead><tr><th>Layer</th><th class="left">Runs on</th>\(head)<th class="left">Transfers</th><th>Regret</th>\
      <th class="left">Reason</th></tr></thead>
      <tbody>\(rows)</tbody></table></div>\(omitted)</details>
      """
  }

  private static func fact(_ name: String, _ value: String) -> Markup {
    "<div><small>\(name)</small><b>\(value)</b></div>"
  }

  private static func row(_ node: ReportNode, columns: [String], _ palette: ReportPalette) -> Markup {
    let costs = columns.map { cost(of: node, on: $0) }
    let transfers: [Markup] = node.transfers.map { transfer in
      let cost = "\(HumanReadable.bytes(transfer.bytes)), \(HumanReadable.seconds(transfer.seconds))"
      return "<div>\(transfer.value): \(transfer.from) → \(transfer.to)<br><small>\(cost)</small></div>"
    }
    return """
      <tr data-moves="\(node.transfers.isEmpty ? 0 : 1)"><td title="\(node.name)">\
      \(node.name)<br><small>\(node.op)</small></td>\
      <td class="left">\(palette.chip(node.device))</td>\(costs)<td class="left wrap">\(transfers)</td>\
      <td>\(node.regret.map(HumanReadable.seconds) ?? "—")</td><td class="left wrap">\(node.reason)</td></tr>
      """
  }

  private static func cost(of node: ReportNode, on device: String) -> Markup {
    guard let candidate = node.candidates.first(where: { $0.device == device }) else {
      return "<td class=\"no\">—</td>"
    }
    guard let seconds = candidate.seconds else {
      return "<td class=\"no\">cannot: \(candidate.unsupported ?? "no reason given")</td>"
    }
    let chosen: Markup = device == node.device ? "chosen" : ""
    let text = HumanReadable.seconds(seconds)
    if candidate.isMeasured { return "<td class=\"\(chosen)\">\(text)</td>" }
    return "<td class=\"\(chosen) est\" title=\"estimated\">≈ \(text)</td>"
  }
}
