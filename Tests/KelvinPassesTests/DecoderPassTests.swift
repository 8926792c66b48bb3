import ConformanceChecks
import KelvinBasics
import KelvinCPU
import KelvinDevices
import KelvinGraph
import KelvinPasses
import KelvinReference
import TestSupport
import Testing

/// Layers of a decoder become a few nodes with equal results, for any number of tokens, heads, batches and rows.
@Suite struct DecoderPassTests {
  private let tolerance = Tolerance(relative: 1e-3, absolute: 1e-4)

  @Test(arguments: Tier.seeds(UInt64(16), of: 100)) func layersBecomeFewNodesWithEqualResults(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    func pick<T>(_ values: [T]) -> T { values[Int(random.next() % UInt64(values.count))] }
    var net = DecoderLayers()
    (net.layers, net.batch, net.size) = (pick([1, 2]), pick([1, 2]), pick([4, 5, 16]))
    (net.sharing, net.tokens, net.window) = (pick([1, 2, 3]), pick([1, 1, 2, 5, 9]), pick([0, 0, 3]))
    net.heads = net.sharing * pick([1, 2, 3])
    net.room = pick([9, 17, 40])
    let graph = try net.graph(ReferenceEvaluator(), &random)
    let inputs = graph.types(graph.inputs).map { type in
      guard type.scalar == .int32 else { return Tensor.random(.float32, type.shape, -2...2, &random) }
      return Tensor(type, rounding: (0..<type.count).map { _ in Double(pick(Array((net.tokens - 1)..<net.room))) })
    }
    let result = try Pipeline.standard(ReferenceEvaluator()).run(graph).graph
    let case_ = "seed \(seed), \(net)"
    #expect(result.nodes.count { $0.op is Attention } == net.layers, "\(case_)")
    #expect(result.nodes.count { $0.op is UpdateCache } == net.layers, "\(case_)")
    let rows = net.batch * net.tokens
    #expect(result.nodes.count { $0.op is NormalizedLinear } == (rows <= 4 ? 2 * net.layers : 0), "\(case_)")
    let kernels = (rows <= 4 ? 6 : 8) * net.layers
    #expect(result.nodes.count == kernels, "\(case_): \(result)")
    for node in result.nodes {
      guard let op = node.op as? Attention else { continue }
      #expect(op.hasLengths && op.sharing == net.sharing && op.window == net.window, "\(case_)")
      #expect(op.lastKey == 1 - net.tokens, "\(case_)")
    }
    let wanted = try ReferenceDevice().run(graph, inputs).outputs
    var definitions = result
    for index in definitions.nodes.indices where Self.isDefined(definitions.nodes[index].op) {
      definitions.nodes[index].body = nil
    }
    let bodies = ExpandedGraph(result) { node, _ in node.body }.graph
    for (what, outputs) in [
      ("definition", try ReferenceDevice().run(definitions, inputs).outputs),
      ("body", try ReferenceDevice().run(bodies, inputs).outputs),
      ("cpu", try CPUDevice().run(result, inputs).outputs),
      ("threads", try CPUDevice().run(result, inputs, threads: 3).outputs),
    ] {
      for (got, wanted) in zip(outputs, wanted) {
        #expect(tolerance.difference(of: got, from: wanted) == nil, "\(case_), \(what)")
      }
    }
  }

  private static func isDefined(_ op: any Operator) -> Bool {
    op is Attention || op is UpdateCache || op is NormalizedLinear
  }

  /// A cache that something else reads, too, keeps its place in the order.
  @Test func scatterThatIsReadBeforeTheOtherStaysAlone() throws {
    var random = SeededGenerator(seed: 3)
    var graph = try DecoderLayers().graph(ReferenceEvaluator(), &random)
    let scatters = graph.nodes.indices.filter { graph.nodes[$0].op is ScatterElements }
    let keys = graph.nodes[scatters[0]].outputs[0]
    let early = graph.addValue(Value(name: "early", type: graph[keys].type))
    let origin = Origin(name: "early", kind: "Test", index: 0)
    graph.nodes.insert(
      Node(name: "early", op: Unary(.relu), inputs: [keys], outputs: [early], origins: [origin]), at: scatters[0] + 1)
    graph.outputs.append(early)
    let result = try Pipeline.standard(ReferenceEvaluator()).run(graph).graph
    #expect(!result.nodes.contains { $0.op is UpdateCache })
    #expect(result.nodes.contains { $0.op is Attention })
  }
}
