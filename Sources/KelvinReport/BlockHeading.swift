import KelvinBasics
import KelvinPlanning

/// The heading of a block of repeated layers: the number of repetitions, and the cost in all and per repetition.
struct BlockHeading {
  private let block: RepeatedBlock
  private let nodes: ArraySlice<Plan.Node>

  /// - Parameter nodes: All nodes of the placement.
  init(_ block: RepeatedBlock, _ nodes: [Plan.Node]) {
    self.block = block
    self.nodes = nodes[block.range]
  }

  /// The heading: `12 × these 20 layers: 204 ms in all, 16.9 ms to 17.3 ms each time`.
  var text: String {
    let cost = block.cost { nodes[$0].chosen?.seconds ?? 0 }
    let isMeasured = nodes.allSatisfy { node in
      node.chosen?.isMeasured ?? false
    }
    let mark = isMeasured ? "" : "≈ "
    let range = HumanReadable.range(cost.least, cost.most)
    let what = block.period == 1 ? "this layer" : "these \(block.period) layers"
    return "\(block.count) × \(what): \(mark)\(HumanReadable.seconds(cost.sum)) in all, \(mark)\(range) each time"
  }
}
