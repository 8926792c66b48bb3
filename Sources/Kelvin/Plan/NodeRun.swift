import KelvinPlanning

/// Nodes in a row on one device, for one reason: one line of a plan that has many.
struct NodeRun {
  var nodes: [Plan.Node]
  var first: Plan.Node { nodes[0] }
  var last: Plan.Node { nodes[nodes.count - 1] }

  /// Nodes up to which a plan is shown one by one.
  private static let fewest = 40

  /// - Returns: the nodes one by one where they are few or all is asked for; else without cuts at a node that needs
  ///   copies, has a reason of its own, or lies in another region.
  static func fold(_ nodes: [Plan.Node], isVerbose: Bool) -> [NodeRun] {
    var runs: [NodeRun] = []
    for node in nodes {
      if !isVerbose, nodes.count > fewest, let open = runs.last, open.first.device == node.device,
        open.first.reason == node.reason, node.transfers.isEmpty, open.first.region == node.region
      {
        runs[runs.count - 1].nodes.append(node)
      } else {
        runs.append(NodeRun(nodes: [node]))
      }
    }
    return runs
  }

  var seconds: Double { nodes.reduce(0) { $0 + (Self.chosen($1)?.seconds ?? 0) } }
  var isMeasured: Bool { nodes.allSatisfy { Self.chosen($0)?.source == .measured } }
  /// The least regret in the run.
  var regret: Double? { nodes.compactMap(\.regret).min() }

  private static func chosen(_ node: Plan.Node) -> PlanCandidate? {
    node.candidates.first { $0.device == node.device }
  }
}
