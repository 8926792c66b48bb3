import ConformanceChecks
import KelvinBasics
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import Testing

@Suite struct KernelFamilyTests {
  @Test(arguments: [true, false])
  func refusedFusedNodeRunsItsBody(refuses: Bool) throws {
    let (graph, input) = try fused(weightIsConstant: true)
    let kernels = PickyKernels(refusesFused: refuses)
    #expect(kernels.support(for: graph.nodes[0], in: graph, precision: .full) == .supported)
    let expanded = kernels.expanded(graph)
    #expect(expanded.graph.nodes.count == (refuses ? 2 : 1))
    #expect(expanded.parents.allSatisfy { $0 == "fused" })
    let results = try ReferenceDevice().run(expanded.graph, [input]).outputs.map(\.floats)
    #expect(results == (try ReferenceDevice().run(graph, [input]).outputs.map(\.floats)))
  }

  @Test func unsupportedBodyIsReported() throws {
    let (graph, _) = try fused(weightIsConstant: false)
    let support = PickyKernels(refusesFused: true).support(for: graph.nodes[0], in: graph, precision: .full)
    #expect(support == .unsupported("weights that are not constant"))
  }

  @Test func equalPrecisionsReportFull() throws {
    let (graph, _) = try fused(weightIsConstant: true)
    let device = ReferenceDevice()
    #expect(Precision.allCases.allSatisfy { device.effectivePrecision($0, of: graph.nodes[0], in: graph) == .full })
  }

  @Test func effectivePrecisionFollowsTheOffers() throws {
    let (graph, _) = try fused(weightIsConstant: true)
    for refuses in [true, false] {
      let kernels = PickyKernels(refusesFused: refuses)
      let answers = [Precision.full, .low].map { kernels.effectivePrecision($0, of: graph.nodes[0], in: graph) }
      #expect(answers == [.full, .low])
    }
  }

  @Test func selectionKeepsThePreferredPrecision() throws {
    let (graph, _) = try fused(weightIsConstant: true)
    let blocks = KernelLayouts(reads: [.rows], writes: [.rows])
    let offers = [KernelOffer("rows", "rows", blocks, precision: .low), KernelOffer("dense", precision: .full)]
    let selection = KernelSelection(ExpandedGraph(graph) { _, _ in nil }, [offers])
    #expect(selection.offers.map(\.kernel) == ["rows"])
  }

  /// A product followed by an activation, as one node.
  private func fused(weightIsConstant: Bool) throws -> (Graph, Tensor) {
    var random = SeededGenerator(seed: 7)
    let input = Tensor.random(.float32, [3, 5], -1...1, &random)
    let weight = Tensor.random(.float32, [4, 5], -1...1, &random)
    var graph = Graph()
    let x = graph.addValue(Value(name: "x", type: input.type))
    let w = graph.addValue(Value(name: "w", type: weight.type, weight: weightIsConstant ? Weight(weight) : nil))
    let y = graph.addValue(Value(name: "y", type: TensorType(.float32, [3, 4])))
    let op = Linear(epilogue: Epilogue(activation: .relu))
    graph.nodes = [
      try .decomposable(
        name: "fused", op: op, inputs: [x, w], types: [input.type, weight.type], output: y, origins: [])
    ]
    graph.inputs = weightIsConstant ? [x] : [x, w]
    graph.outputs = [y]
    try graph.verify()
    return (graph, input)
  }
}

/// A kernel for everything, but one of Linear that may refuse fused nodes and always wants constant weights.
private struct PickyKernels: KernelFamily {
  let refusesFused: Bool

  func offers(for request: KernelRequest) throws(DeviceError) -> [KernelOffer<String>] {
    func unsupported(_ reason: String) -> DeviceError {
      DeviceError(.unsupported, device: "picky:0", place: request.node.name, reason: reason)
    }
    guard let linear = request.node.op as? Linear else { return [KernelOffer("any")] }
    if !request.isConstant(1) { throw unsupported("weights that are not constant") }
    if linear.epilogue.isFused, refusesFused { throw unsupported("activations") }
    let exact = KernelOffer("float32")
    return request.precision == .low ? [KernelOffer("bfloat16", precision: .low), exact] : [exact]
  }
}
