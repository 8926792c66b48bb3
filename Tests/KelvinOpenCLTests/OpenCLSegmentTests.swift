import ConformanceChecks
import KelvinBasics
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinOpenCL
import KelvinReference
import TestSupport
import Testing

@Suite(.enabled(if: !present.isEmpty, absence))
struct OpenCLSegmentTests {
  @Test(arguments: Tier.some(present.count, of: drivenNames), [ScalarType.float32, .float16])
  func mixedLayoutsMatchTheReference(_ name: String, _ scalar: ScalarType) throws {
    let device = try #require(driven[name])
    for images in 1...2 {
      try expectAgreement(of: device, on: TestNetwork.mixed(scalar, images: images))
    }
  }

  @Test(arguments: Tier.some(present.count, of: drivenNames), [ScalarType.float32, .float16])
  func randomGraphsMatchTheReference(_ name: String, _ scalar: ScalarType) throws {
    let device = try #require(driven[name])
    for seed in Tier.seeds(UInt64(10), of: 40) {
      try expectAgreement(of: device, on: TestNetwork.random(seed: seed, scalar), "seed \(seed)")
    }
  }

  @Test(arguments: Tier.some(present.count, of: drivenNames), [ScalarType.float32, .float16, .int64, .uint8])
  func aliasedValuesReachEveryOutput(_ name: String, _ scalar: ScalarType) throws {
    let device = try #require(driven[name])
    var net = TestNetwork(scalar)
    let x = net.input([2, 3, 5])
    let turned = try net.add(Transpose([2, 0, 1]), x)
    let flat = try net.add(Reshape([30]), turned)
    let again = try net.add(Reshape([6, 5]), flat)
    try expectAgreement(of: device, on: net.finish(x, flat, turned, flat, again))
  }

  /// Weights of a float16 graph, those that are float16 in a float32 graph's file, and any at low precision; not on a
  /// processor, which reads float32 faster.
  @Test func float16WeightsTakeHalfTheDeviceMemory() throws {
    let card = try #require(driven.sorted { $0.key < $1.key }.first { $0.key.contains(" as ") }?.value)
    let plain = try TestNetwork.mixed(.float32, images: 1)
    let stored = try TestNetwork.storedAsHalves(plain)
    func byteCount(_ device: any Device, _ graph: Graph, _ precision: Precision = .full) throws -> Int {
      let weights = CountingWeights()
      let operands = inputs(of: graph)
      let results = try device.run(graph, operands, precision: precision, weights: weights).outputs
      for (result, expected) in zip(results, try ReferenceDevice().run(graph, operands).outputs) {
        #expect(graph.tolerance(precision).difference(of: result, from: expected) == nil)
      }
      return weights.byteCount
    }
    let whole = Double(try byteCount(card, plain))
    #expect(Double(try byteCount(card, try TestNetwork.mixed(.float16, images: 1))) < 0.6 * whole)
    #expect(Double(try byteCount(card, stored)) < 0.6 * whole)
    #expect(Double(try byteCount(card, plain, .low)) < 0.6 * whole)
    #expect(card.effectivePrecision(.low, of: plain.nodes[0], in: plain) == .low)
    #expect(try byteCount(present[0], stored) == byteCount(present[0], plain))
    #expect(present[0].effectivePrecision(.low, of: plain.nodes[0], in: plain) == .full)
  }

  @Test func nodesAreTimedByTheDeviceClock() throws {
    let graph = try TestNetwork.mixed(.float32, images: 1)
    let (_, timings) = try present[0].run(graph, inputs(of: graph), measuresNodes: true)
    #expect(Set(timings.map(\.node)) == Set(graph.nodes.map(\.name)))
    #expect(timings.allSatisfy { $0.seconds > 0 && $0.start >= 0 && $0.clock == .device })
    let (_, none) = try present[0].run(graph, inputs(of: graph))
    #expect(none.isEmpty)
  }

  @Test func invocationRunsAgainOnChangedInputs() throws {
    let device = present[0]
    var net = TestNetwork()
    let x = net.input([7])
    let graph = try net.finish(net.add(Unary(UnaryFunction(.negate)), x))
    let executable = try device.compile(segment(graph))
    let slices = try (0..<2).map { _ in BufferSlice(try device.makeBuffer(byteCount: 512), offset: 256, byteCount: 28) }
    let invocation = try executable.bind(Bindings(inputs: [slices[0]], outputs: [slices[1]], scratch: nil))
    for round in 1...3 {
      let values = (0..<7).map { Float($0 * round) }
      try values.withUnsafeBytes { try slices[0].write($0) }
      try invocation.submit()
      try invocation.completion.wait()
      var result = [Float](repeating: 0, count: 7)
      try result.withUnsafeMutableBytes { try slices[1].read(into: $0) }
      #expect(result == values.map { -$0 })
    }
  }

  @Test func concurrentCallersGetTheirOwnResults() async throws {
    let device = present[0]
    let graph = try TestNetwork.mixed(.float32, images: 1)
    let tensors = inputs(of: graph)
    let expected = try device.run(graph, tensors).outputs.map(\.floats)
    try await withThrowingTaskGroup(of: [[Float]].self) { group in
      for _ in 0..<8 { group.addTask { try device.run(graph, tensors).outputs.map(\.floats) } }
      for try await result in group { #expect(result == expected) }
    }
  }

  @Test func memoryOfAnotherDeviceIsRefused() throws {
    var net = TestNetwork()
    let x = net.input([7])
    let graph = try net.finish(net.add(Unary(UnaryFunction(.negate)), x))
    let executable = try present[0].compile(segment(graph))
    let foreign = BufferSlice(try HostBuffer(byteCount: 28), offset: 0, byteCount: 28)
    let error = #expect(throws: DeviceError.self) {
      _ = try executable.bind(Bindings(inputs: [foreign], outputs: [foreign], scratch: nil))
    }
    #expect(error?.reason.contains("memory of another device") == true)
  }

  @Test func unsupportedNodeHasAReason() throws {
    var net = TestNetwork(.float64)
    let x = net.input([3])
    let sum = try net.add(Binary(.add), x, x)
    let graph = try net.finish(sum)
    let support = present[0].support(for: graph.nodes[0], in: graph, precision: .full)
    #expect(support == .unsupported("float64 values"))
    let error = #expect(throws: DeviceError.self) { _ = try present[0].compile(segment(graph)) }
    #expect(error?.code == .unsupported)
  }

  @Test func weightIsUploadedOnceForAllShapes() throws {
    let weights = CountingWeights()
    for size in [9, 12] {
      var net = TestNetwork()
      let x = net.input([1, 3, size, size])
      let graph = try net.finish(net.convolution(x, 5, kernel: 3))
      _ = try present[0].run(graph, inputs(of: graph), weights: weights)
    }
    #expect(weights.fills == 2, "one filling for the weights, one for the bias")
  }
}

extension OpenCLSegmentTests {
  /// The functions that a convolution of an image with windows of 4 × 4 by strides takes.
  private func functions(stride: Int, before: Int = 0) throws -> Set<String> {
    let device = try #require(present[0] as? OpenCLDevice)
    var net = TestNetwork(.float32)
    let filters = net.weight([64, 3, 4, 4])
    let window = Window(kernel: [4, 4], strides: [stride, stride], before: [before, before])
    let result = try net.add(Convolution(window: window, groups: 1), net.input([1, 3, 32, 32]), filters)
    return try device.functions(of: segment(net.finish(result)))
  }

  @Test func disjointWindowsAreRowsOfAProduct() throws {
    for stride in [4, 6] { #expect(try functions(stride: stride).contains { $0.hasPrefix("copy") }) }
    for (stride, before) in [(3, 0), (4, 1)] {
      let functions = try functions(stride: stride, before: before)
      #expect(functions.contains { $0.contains("planar") } && !functions.contains { $0.hasPrefix("copy") })
    }
  }
}

/// Random tensors for a graph's inputs.
func inputs(of graph: Graph) -> [Tensor] {
  var random = SeededGenerator(seed: 11)
  return graph.inputs.map { id in
    let type = graph[id].type
    return .random(type.scalar, type.shape, type.scalar.isFloatingPoint ? -1...1 : 0...100, &random)
  }
}

func segment(_ graph: Graph, blobs: any BlobCache = NoBlobCache()) -> Segment {
  Segment(
    graph: graph, precision: .full, threads: 1, isDeterministic: true, weights: MemoryPackedWeights(), blobs: blobs)
}

/// Compares every output with the reference device's. Errors of a chain add up, at most to the sum of the nodes' own;
/// float16 values are rounded at the boundary only, while the reference rounds every one.
func expectAgreement(of device: any Device, on graph: Graph, _ label: String = "") throws {
  let tensors = inputs(of: graph)
  for node in graph.nodes {
    #expect(device.support(for: node, in: graph, precision: .full) == .supported, "\(node.name)")
  }
  let expected = try ReferenceDevice().run(graph, tensors).outputs
  let actual = try device.run(graph, tensors).outputs
  let tolerance = graph.tolerance(.full)
  for (index, pair) in zip(expected, actual).enumerated() {
    let difference = tolerance.difference(of: pair.1, from: pair.0)
    #expect(difference == nil, "output \(index) on \(device.info.id) \(label): \(difference ?? "")")
  }
}
