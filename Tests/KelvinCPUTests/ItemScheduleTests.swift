import ConformanceChecks
import KelvinBasics
import KelvinCPU
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import Testing

/// Many items whose values are larger than caches are computed some at a time.
struct ItemScheduleTests {
  private let items = 12

  /// Two convolutions on 12 images, whose values take 24 MiB.
  private func network(_ scalar: ScalarType) throws -> (graph: Graph, input: Tensor) {
    var random = SeededGenerator(seed: 5)
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let input = Tensor.random(scalar, [items, 3, 128, 128], -1...1, &random)
    var y = try builder.input("x", input.type)
    for (index, (width, depth)) in [(32, 3), (4, 32)].enumerated() {
      let weights = builder.constant("w", Tensor.random(scalar, [width, depth, 3, 3], -0.7...0.7, &random))
      let name = "convolution\(index)"
      y = try builder.add(
        Convolution(window: Window(kernel: [3, 3], before: [1, 1], after: [1, 1])), y, weights, name: name,
        origin: Origin(name: name, kind: "Test", index: index))
    }
    builder.output(y)
    return (try builder.finish(), input)
  }

  @Test(arguments: [ScalarType.float32, .float16], [1, 3])
  func batchedItemsEqualSingleItems(scalar: ScalarType, threads: Int) throws {
    let (graph, input) = try network(scalar)
    let one = try #require(graph.computing(items: 1))
    let together = try CPUDevice().run(graph, [input], threads: threads).outputs[0]
    let apart = try (0..<items).map { item in
      try CPUDevice().run(one, [input.part(Part.Operand(axis: 0, range: item..<item + 1))], threads: threads).outputs[0]
    }
    expectClose(together, Tensor.joined(apart), within: scalar == .float16 ? 1e-2 : 1e-5)
  }

  @Test func memoryHoldsOnlyTheCurrentItems() throws {
    let (graph, _) = try network(.float32)
    let executable = try CPUDevice().compile(
      Segment(
        graph: graph, precision: .full, threads: 1, isDeterministic: true, weights: MemoryPackedWeights(),
        blobs: NoBlobCache()))
    let inner = graph[graph.nodes[0].outputs[0]].type.byteCount
    #expect(executable.scratchByteCount < inner / 2)
  }

  @Test func everyNodeIsTimedOnceForAllItems() throws {
    let (graph, input) = try network(.float32)
    let timings = try CPUDevice().run(graph, [input], threads: 1, measuresNodes: true).timings
    #expect(timings.map(\.node) == ["convolution0", "convolution1"])
  }
}
