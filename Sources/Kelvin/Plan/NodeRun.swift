import KelvinPlanning

/// Nodes in a row on one device, for one reason: one line of a plan that has many.
struct NodeRun {
  var nodes: ArraySlice<Plan.Node>
  var first: Plan.Node { nodes[nodes.startIndex] }
  var last: Plan.Node { nodes[nodes.endIndex - 1] }

  /// - Returns: the nodes one by one, or, where they are to be `joined`, as long runs as can be without cuts at a node that
  ///   needs copies, has a reason of its own, or lies in another region.
  static func runs(_ nodes: ArraySlice<Plan.Node>, joined: Bool) -> [NodeRun] {
    var runs: [NodeRun] = []
    for index in nodes.indices {
      let node = nodes[index]
      if joined, let open = runs.last, open.first.device == node.device, open.first.reason == node.reason,
        node.transfers.isEmpty, open.first.region == node.region
      {
        runs[runs.count - 1].nodes = nodes[open.nodes.startIndex...index]
      } else {
        runs.append(NodeRun(nodes: nodes[index...index]))
      }
    }
    return runs
  }

  var seconds: Double { nodes.reduce(0) { $0 + ($1.chosen?.seconds ?? 0) } }
  var isMeasured: Bool { nodes.allSatisfy { $0.chosen?.source == .measured } }
  /// The least regret in the run.
  var regret: Double? { nodes.compactMap(\.regret).min() }
}
