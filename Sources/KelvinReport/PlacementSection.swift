import KelvinBasics
import KelvinPlanning

/// The section about placements: the device of every layer, its cost on other devices and the reason, as graph, charts
/// and table.
enum PlacementSection {
  /// The largest number of layers shown for one plan; the section states how many are left out.
  static let mostLayers = 1500

  static func section(_ input: ReportInput, _ palette: ReportPalette) -> Markup {
    guard !input.placements.isEmpty else { return "" }
    let recommended = input.configurations.first(where: \.isRecommended)?.units
    let open = input.placements.firstIndex { $0.units == recommended } ?? 0
    let plans: [Markup] = input.placements.enumerated().map { number, placement in
      plan(placement, number, devices: input.devices, palette, isOpen: number == open)
    }
    let hasRegions = input.placements.contains { $0.plan.nodes.contains { !$0.region.isEmpty } }
    let inRegions: Markup = " A dashed box: inside a branch or loop, its cost that of all times together."
    return """
      <section id="placement"><h2>Which device runs which layer</h2>
      <p class="soft">Every box is a layer, every line a value; a heavy line with ⇄ is a value that is copied to \
      another device. The bar in a box is the layer's share of the costliest layer. Select a layer to see its cost \
      on every device, and the reason for its placement.</p>\(plans)
      <p class="soft"><small>≈: estimated, not measured.\(hasRegions ? inRegions : "") Regret: what the whole inference would lose with this layer \
      on its best other device and everything else planned again.</small></p></section>
      """
  }

  private static func plan(
    _ placement: ReportPlacement, _ number: Int, devices: [ReportDevice], _ palette: ReportPalette, isOpen: Bool
  ) -> Markup {
    let shown = min(placement.plan.nodes.count, mostLayers)
    let used = Set(placement.plan.nodes.map(\.device) + placement.plan.nodes.flatMap { $0.candidates.map(\.device) })
    let refusals = refusals(placement)
    let columns = devices.map(\.id).filter { used.contains($0) && refusals[$0] == nil }
    let left: [Markup] = devices.compactMap { device in
      refusals[device.id].map { "<span>\(palette.chip(device.id)) none: \($0)</span>" }
    }
    let rest = placement.plan.nodes.count - shown
    let omitted: Markup = rest > 0 ? "<p>The first \(shown) layers; \(rest) more are in the JSON plan.</p>" : ""
    let layers = placement.plan.nodes.filter { $0.turns == nil }
    let counts: [Markup] = columns.compactMap { device in
      let count = layers.count { $0.device == device }
      return count > 0 ? "<span>\(palette.chip(device)) \(count) of \(layers.count)</span>" : nil
    }
    return """
      <details class="panel placement"\(isOpen ? " open" : "" as Markup)>\
      <summary>\(placement.units) <small>goal: \(placement.plan.goal.rawValue)</small></summary>
      \(facts(placement))
      <div class="legend">\(counts)\(left)</div>
      <div class="tools zoom" hidden><button type="button" data-zoom="0.8" aria-label="Smaller">−</button>\
      <button type="button" data-zoom="1.25" aria-label="Larger">+</button> \
      <span class="soft">arrow keys walk from layer to layer</span></div>
      <div class="canvas">\(GraphSection.draw(placement, upTo: shown, number: number, palette))</div>
      <div class="inspector" aria-live="polite" hidden></div>
      \(CostChart(placement, upTo: shown, number: number, devices: columns, palette).markup)
      <div class="tools" hidden><input type="search" placeholder="layer, operator, reason" aria-label="Filter layers"> \
      <label><input type="checkbox" class="moves"> only layers that cause transfers</label> <output class="soft"></output></div>
      \(LayerTable.draw(placement, upTo: shown, number: number, columns: columns, palette))\(omitted)</details>
      """
  }

  /// Returns the devices that run no layer for a single common reason, with this reason.
  private static func refusals(_ placement: ReportPlacement) -> [String: String] {
    var reasons: [String: Set<String?>] = [:]
    for candidate in placement.plan.nodes.flatMap(\.candidates) {
      reasons[candidate.device, default: []].insert(candidate.seconds == nil ? candidate.unsupported ?? "" : nil)
    }
    for node in placement.plan.nodes { reasons[node.device] = nil }
    return reasons.compactMapValues { $0.count == 1 ? $0.first ?? nil : nil }
  }

  private static func facts(_ placement: ReportPlacement) -> Markup {
    let moves = placement.plan.nodes.flatMap(\.transfers).filter { $0.isSignal != true }
    let moved = moves.reduce(0.0) { $0 + Double(max($1.bytes, 0)) }
    let mark = placement.expectedError.map { " \($0.mark)" } ?? ""
    var facts = [ReportFact("predicted, one warm inference", HumanReadable.seconds(placement.plan.predicted) + mark)]
    if let expectedError = placement.expectedError { facts.append(ReportFact("prediction error", expectedError.basis)) }
    if let measured = placement.measured {
      let error = HumanReadable.percent(placement.plan.predicted / measured - 1)
      facts.append(
        ReportFact(
          "measured, one warm inference after another",
          "\(HumanReadable.seconds(measured)) (prediction off by \(error))"))
    }
    if let single = placement.plan.bestSingleDevice {
      facts.append(
        ReportFact("best single device", "\(HumanReadable.seconds(single.predicted)) on \(single.device)"))
    }
    let size = HumanReadable.bytes(Int(min(moved, 1e18)))
    facts.append(ReportFact("transfers", moves.isEmpty ? "none" : "\(moves.count), \(size)"))
    return self.facts(facts + placement.facts)
  }

  static func facts(_ facts: [ReportFact]) -> Markup {
    guard !facts.isEmpty else { return "" }
    let rows: [Markup] = facts.map { "<div><dt>\($0.name)</dt><dd>\($0.value)</dd></div>" }
    return "<dl class=\"facts\">\(rows)</dl>"
  }
}
