import KelvinPlanning

/// Consecutive nodes on one device with one reason, shown as one line of a long plan.
struct NodeRun {
  var nodes: ArraySlice<Plan.Node>
  var first: Plan.Node { nodes[nodes.startIndex] }
  var last: Plan.Node { nodes[nodes.endIndex - 1] }

  /// - Returns: single nodes or, if `joined`, the longest possible runs. A run ends before a node that needs copies,
  ///   has a reason of its own, or is in another region.
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
  /// The smallest regret in the run.
  var regret: Double? { nodes.compactMap(\.regret).min() }
}
