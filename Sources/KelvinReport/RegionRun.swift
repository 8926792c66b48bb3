import KelvinBasics
import KelvinPlanning

/// Consecutive layers in the same part of the same branch or loop.
struct RegionRun {
  /// The region; empty at the top level.
  let region: String
  /// The number of executions per inference.
  let times: Double
  private(set) var nodes: Range<Int>

  /// - Parameter range: The range of nodes to group; all nodes by default.
  static func runs(_ nodes: [Plan.Node], in range: Range<Int>? = nil) -> [RegionRun] {
    var runs: [RegionRun] = []
    for index in range ?? nodes.indices {
      let node = nodes[index]
      if let last = runs.last, last.region == node.region {
        runs[runs.count - 1].nodes = last.nodes.lowerBound..<index + 1
      } else {
        runs.append(RegionRun(region: node.region, times: node.iterations, nodes: index..<index + 1))
      }
    }
    return runs
  }

  /// The heading: `halve/body: 10 × in each inference, costs of all together`.
  var heading: String { HumanReadable.region(region, times: times) + ", costs of all together" }
}
