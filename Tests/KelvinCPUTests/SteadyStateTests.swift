import ConformanceChecks
import CAllocationCounter
import KelvinBasics
import KelvinCPU
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import TestSupport
import Testing

@Suite struct SteadyStateTests {
  /// Convolution, activation, pooling, reshape and product, from float16 to float16.
  private static func network() throws -> (graph: Graph, input: Tensor) {
    var random = SeededGenerator(seed: 7)
    var graph = Graph()
    func weight(_ name: String, _ shape: Shape) -> ValueID {
      let tensor = Tensor.random(.float16, shape, -0.5...0.5, &random)
      return graph.addValue(Value(name: name, type: tensor.type, weight: Weight(tensor)))
    }
    func add(_ op: any Operator, _ inputs: ValueID...) throws -> ValueID {
      let id = graph.addValue(Value(name: "v\(graph.nodes.count)", type: try op.infer(graph.types(inputs))[0]))
      graph.nodes.append(Node(name: "n\(graph.nodes.count)", op: op, inputs: inputs, outputs: [id], origins: []))
      return id
    }
    let input = Tensor.random(.float16, [1, 3, 21, 19], -1...1, &random)
    let x = graph.addValue(Value(name: "x", type: input.type))
    graph.inputs = [x]
    let window = Window(kernel: [3, 3], strides: [2, 2], before: [1, 1])
    var y = try add(Convolution(window: window, epilogue: .bias), x, weight("w", [13, 3, 3, 3]), weight("b", [13]))
    y = try add(Unary(.silu), y)
    y = try add(Pool(.maximum, window: Window(kernel: [2, 2], strides: [2, 2])), y)
    y = try add(Reshape([1, graph[y].type.count]), y)
    let depth = graph[y].type.count
    let logits = try add(Linear(epilogue: .bias), y, weight("w2", [10, depth]), weight("b2", [10]))
    let probabilities = try add(Softmax(axis: 1), logits)
    graph.outputs = [probabilities, logits, y, probabilities]
    try graph.verify()
    return (graph, input)
  }

  @Test func aNetworkAgreesWithTheReference() throws {
    let (graph, input) = try Self.network()
    let expected = try ReferenceDevice().run(graph, [input]).outputs
    for variant in CPUDevice.variantNames.indices {
      let actual = try CPUDevice(variant: variant).run(graph, [input], threads: 2).outputs
      for (got, wanted) in zip(actual, expected) {
        #expect(graph.tolerance(.full).difference(of: got, from: wanted) == nil)
      }
    }
  }

  @Test(.enabled(if: allocation_counter_counts(), "a sanitizer brings its own allocator"))
  func submittingAllocatesNothing() async {
    await #expect(processExitsWith: .success) {
      _ = OwnProcess()
      let (graph, input) = try SteadyStateTests.network()
      let device = CPUDevice()
      let executable = try device.compile(
        Segment(
          graph: graph, precision: .full, threads: 2, isDeterministic: true, weights: MemoryPackedWeights(),
          blobs: NoBlobCache()))
      func slice(_ byteCount: Int) throws -> BufferSlice {
        BufferSlice(try HostBuffer(byteCount: byteCount), offset: 0, byteCount: byteCount)
      }
      let inputs = [try slice(input.type.byteCount)]
      try input.bytes.withUnsafeBytes { raw in try inputs[0].write(raw) }
      let invocation = try executable.bind(
        Bindings(
          inputs: inputs, outputs: try graph.outputs.map { try slice(graph[$0].type.byteCount) },
          scratch: try slice(executable.scratchByteCount), measuresNodes: true))
      try invocation.submit()

      allocation_counter_start()
      let probe = UnsafeMutablePointer<Int>.allocate(capacity: 1)
      probe.deallocate()
      #expect(allocation_counter_stop() > 0, "the counter does not see allocations")

      allocation_counter_start()
      for _ in 0..<100 { try invocation.submit() }
      let allocations = allocation_counter_stop()
      #expect(allocations == 0)
      #expect(invocation.nodeTimings.map(\.node) == ["n0", "n1", "n2", "n3", "n4", "n5"])
      #expect(invocation.nodeTimings.map { $0.seconds > 0 } == [true, true, true, false, true, true])
    }
  }

  @Test func packedWeightsReplaceTheModelWeights() throws {
    let (graph, input) = try Self.network()
    let weights = MemoryPackedWeights()
    let expected = try CPUDevice().run(graph, [input], weights: weights).outputs
    // Packed forms in memory last as long as something uses them.
    let user = try CPUDevice().compile(
      Segment(
        graph: graph, precision: .full, threads: 2, isDeterministic: true, weights: weights, blobs: NoBlobCache()))
    var unreadable = graph
    for index in unreadable.values.indices where unreadable.values[index].weight != nil {
      let type = unreadable.values[index].type
      unreadable.values[index].weight = Weight(type) {
        Issue.record("a weight was read although its packed form is at hand")
        return Tensor(type, rounding: [Double](repeating: 0, count: type.count))
      }
    }
    let actual = try withExtendedLifetime(user) {
      try CPUDevice().run(unreadable, [input], weights: weights).outputs
    }
    #expect(zip(actual, expected).allSatisfy { $0.doubles == $1.doubles })
  }

  @Test func nodesWithASharedWeightStayDistinct() throws {
    var random = SeededGenerator(seed: 8)
    let weights = MemoryPackedWeights()
    let scale = Tensor.random(.float32, [3], 0.5...1, &random)
    for _ in 0..<2 {
      let x = Tensor.random(.float32, [1, 3, 5], -1...1, &random)
      var graph = Graph()
      func add(_ name: String, _ tensor: Tensor, isWeight: Bool = true) -> ValueID {
        graph.addValue(Value(name: name, type: tensor.type, weight: isWeight ? Weight(tensor) : nil))
      }
      let mean = Tensor.random(.float32, [3], -1...1, &random)
      let inputs = [
        add("x", x, isWeight: false), add("scale", scale), add("shift", scale), add("mean\(random.next())", mean),
        add("variance", scale),
      ]
      graph.inputs = [inputs[0]]
      graph.outputs = [graph.addValue(Value(name: "y", type: x.type))]
      graph.nodes = [
        Node(name: "n", op: BatchNormalization(epsilon: 0), inputs: inputs, outputs: graph.outputs, origins: [])
      ]
      let expected = try ReferenceDevice().run(graph, [x]).outputs[0]
      let actual = try CPUDevice().run(graph, [x], weights: weights).outputs[0]
      #expect(graph.tolerance(.full).difference(of: actual, from: expected) == nil)
    }
  }

  @Test func tooSmallMemoryIsRefused() throws {
    let (graph, _) = try Self.network()
    let executable = try CPUDevice().compile(
      Segment(
        graph: graph, precision: .full, threads: 1, isDeterministic: true, weights: MemoryPackedWeights(),
        blobs: NoBlobCache()))
    let small = BufferSlice(try HostBuffer(byteCount: 1), offset: 0, byteCount: 1)
    #expect(throws: DeviceError.self) {
      try executable.bind(
        Bindings(inputs: [small], outputs: graph.outputs.map { _ in small }, scratch: small))
    }
    #expect(throws: DeviceError.self) { try executable.bind(Bindings(inputs: [], outputs: [], scratch: nil)) }
  }
}
