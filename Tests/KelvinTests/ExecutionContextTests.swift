import KelvinBasics
import KelvinGraph
import KelvinRuntime
import TestSupport
import Testing

/// Specializations that take turns in one execution context.
@Suite struct ExecutionContextTests {
  /// A specialization must not see data that others left in the memory, whether it was bound before or after the memory
  /// grew.
  @Test(arguments: Tier.seeds(UInt64(4), of: 12))
  func specializationsInOneMemoryMatchSeparateOnes(seed: UInt64) throws {
    let context = ExecutionContext()
    var runs: [(session: Session, inputs: [Tensor], expected: [[Float]])] = []
    for (place, nodes) in [6, 24, 3, 12].enumerated() {
      let (graph, inputs) = try RandomGraph.make(seed: seed * 4 + UInt64(place), nodes: nodes)
      let model = try graph.compiled(
        on: ModelFixture.fastDevices, pins: try graph.randomPins(seed: seed * 4 + UInt64(place)))
      let expected = try model.makeSession().run(inputs).map(\.floats)
      runs.append((try model.makeSession(in: context), inputs, expected))
      for run in runs.reversed() {
        #expect(try run.session.run(run.inputs).map(\.floats) == run.expected, "seed \(seed), \(nodes) nodes")
      }
    }
  }
}
