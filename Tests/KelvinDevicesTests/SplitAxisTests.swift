import ConformanceChecks
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import TestSupport
import Testing

/// The axes along which operators can be cut.
struct SplitAxisTests {
  @Test(arguments: Tier.sample(400, of: ConformanceCase.all))
  func splitNodeGivesTheSameResult(_ testCase: ConformanceCase) throws {
    let (graph, reference) = (testCase.graph, ReferenceDevice())
    let expected = try reference.run(graph, testCase.inputs).outputs
    for node in graph.nodes where node.outputs.count == 1 {
      let output = graph[node.outputs[0]].type
      for axis in node.op.splitAxes(graph.types(node.inputs), output) {
        let parts = Self.parts(of: axis, size: output.shape[axis.axis])
        guard parts.count > 1 else { continue }
        let body = try node.computed(in: parts, along: axis, in: graph)
        let cut = ExpandedGraph(graph) { one, _ in one.name == node.name ? body : nil }.graph
        try cut.verify()
        let actual = try reference.run(cut, testCase.inputs).outputs
        for (expected, actual) in zip(expected, actual) {
          let difference = graph.tolerance(.full).difference(of: actual, from: expected)
          #expect(difference == nil, "\(node.op.name) along axis \(axis.axis)")
        }
      }
    }
  }

  /// Three parts, of which the first is one unit; none where one of them cannot be computed alone.
  private static func parts(of axis: SplitAxis, size: Int) -> [(range: Range<Int>, part: Part)] {
    let middle = (size + axis.unit) / 2 / axis.unit * axis.unit
    let bounds = [0, axis.unit, middle, size].filter { $0 <= size }
    let ranges = zip(bounds, bounds.dropFirst()).filter { $0 < $1 }.map { $0..<$1 }
    let parts = ranges.compactMap { range in axis.part(range).map { (range: range, part: $0) } }
    return parts.count == ranges.count ? parts : []
  }
}
