import KelvinBasics
import KelvinPlanning

extension PlanText {
  /// A table of the plan's nodes and their costs. Repeated blocks of a long plan are listed once. If the table is still
  /// long, consecutive similar nodes share a line.
  var nodeTable: String {
    var table = TextTable(
      .init("NODE", shrinksTo: 14, cut: .beginning), .init("OP", shrinksTo: 8), .init("DEVICE"), .init("COST", .right),
      .init("REGRET", .right))
    let common = plan.commonReason
    let blocks = showsAllLayers ? [] : plan.repeatedBlocks
    let folded = blocks.reduce(0) { $0 + $1.range.count - $1.period }
    let isJoined = !showsAllLayers && plan.nodes.count - folded > Plan.fewestFolded
    var region = ""
    for stretch in RepeatedBlock.stretches(blocks, of: plan.nodes.count) {
      switch stretch {
      case .plain(let range):
        for run in NodeRun.runs(plan.nodes[range], joined: isJoined) {
          enter(run.first, &region, &table)
          add(run, common: common, indent: region.isEmpty ? "" : "    ", to: &table)
        }
      case .repeated(let block):
        enter(plan.nodes[block.start], &region, &table)
        table.add(heading: "  " + heading(block))
        for run in NodeRun.runs(plan.nodes[block.times[0]], joined: false) {
          enter(run.first, &region, &table)
          add(run, common: common, indent: "    ", to: &table)
        }
      }
    }
    var remarks: [String] = []
    if let common {
      let isOnly = plan.nodes.allSatisfy { $0.reason == common }
      remarks.append("Why, for \(isOnly ? "every node" : "every node without a reason below it"): \(common).")
    }
    if isJoined || !blocks.isEmpty { remarks.append("--all-layers lists every node.") }
    return table.text(width: width)
      + (remarks.isEmpty ? "" : "\n\n" + remarks.joined(separator: " ").paragraph(width: width))
  }

  /// Adds a heading if a node is in another region than the previous node.
  private func enter(_ node: Plan.Node, _ region: inout String, _ table: inout TextTable) {
    guard node.region != region else { return }
    region = node.region
    if !region.isEmpty { table.add(heading: "  " + HumanReadable.region(region, times: node.iterations)) }
  }

  /// `12 × these 20 nodes: ~204 ms in all, ~16.9 ms to 17.3 ms each time; the first time:`.
  private func heading(_ block: RepeatedBlock) -> String {
    let cost = block.cost { plan.nodes[$0].chosen?.seconds ?? 0 }
    let mark = plan.nodes[block.range].allSatisfy { $0.chosen?.source == .measured } ? "*" : "~"
    let range = HumanReadable.range(cost.least, cost.most)
    return "\(block.count) × \(block.period == 1 ? "this node" : "these \(block.period) nodes"):"
      + " \(mark)\(HumanReadable.seconds(cost.sum)) in all, \(mark)\(range) each time; the first time:"
  }

  private func add(_ run: NodeRun, common: String?, indent: String, to table: inout TextTable) {
    let node = run.first
    var remarks: [String] = node.reason == common ? [] : [node.reason]
    if isVerbose, node.candidates.count > 1 { remarks.append(candidates(node)) }
    if isVerbose, node.origins.count > 1 { remarks.append(origins(node)) }
    remarks += node.transfers.map(told)
    if run.nodes.count > 1 {
      table.add(
        [
          "\(indent)\(node.name) … \(run.last.name)", counted(run.nodes.count, "node"), node.device,
          (run.isMeasured ? "*" : "~") + HumanReadable.seconds(run.seconds),
          run.regret.map { "≥ " + HumanReadable.seconds($0) } ?? "—",
        ], remarks: remarks)
    } else {
      table.add(
        [
          indent + node.name, node.op, node.device, node.chosen.map(cost) ?? "—",
          HumanReadable.seconds(node.regret),
        ], remarks: remarks)
    }
  }

  /// Describes a copy, or a control-flow signal to a device.
  private func told(_ transfer: PlannedTransfer) -> String {
    let seconds = HumanReadable.seconds(transfer.seconds)
    return transfer.isSignal == true
      ? "starts \(transfer.to) for \(transfer.value): \(seconds)"
      : "copies \(transfer.value) (\(HumanReadable.bytes(transfer.bytes))) \(transfer.from) → \(transfer.to): \(seconds)"
  }

  private func candidates(_ node: Plan.Node) -> String {
    node.candidates.map { candidate in
      candidate.seconds == nil
        ? "\(candidate.device) cannot: \(candidate.unsupported ?? "unsupported")"
        : "\(candidate.device) \(cost(candidate))"
    }.joined(separator: ", ")
  }

  private func origins(_ node: Plan.Node) -> String {
    "made of "
      + node.origins.map { "\($0.name) \(HumanReadable.percent($0.share, decimals: 0))" }.joined(separator: ", ")
  }

  /// Formats a cost with its mark: `*` measured here, `~` estimated.
  private func cost(_ candidate: PlanCandidate) -> String {
    (candidate.source == .measured ? "*" : "~") + HumanReadable.seconds(candidate.seconds ?? .nan)
  }
}
