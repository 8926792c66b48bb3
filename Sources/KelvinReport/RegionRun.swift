import KelvinBasics

/// Layers in a row that lie in the same part of the same branch or loop.
struct RegionRun {
  /// Empty at the top.
  let region: String
  /// How often one inference runs them.
  let times: Double
  private(set) var nodes: Range<Int>

  /// - Parameter range: of the nodes that are looked at; all of them unless given.
  static func runs(_ nodes: [ReportNode], in range: Range<Int>? = nil) -> [RegionRun] {
    var runs: [RegionRun] = []
    for index in range ?? nodes.indices {
      let node = nodes[index]
      if let last = runs.last, last.region == node.region {
        runs[runs.count - 1].nodes = last.nodes.lowerBound..<index + 1
      } else {
        runs.append(RegionRun(region: node.region, times: node.runs, nodes: index..<index + 1))
      }
    }
    return runs
  }

  /// `halve/body: 10 × in each inference, costs of all together`.
  var heading: String { HumanReadable.region(region, times: times) + ", costs of all together" }
}
