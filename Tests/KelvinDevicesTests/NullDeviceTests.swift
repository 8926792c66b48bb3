import ConformanceChecks
import KelvinConformance
import KelvinDevices
import KelvinGraph
import TestSupport
import Testing

struct NullDeviceTests {
  private let graph: Graph = {
    var graph = Graph()
    let type = TensorType(.float32, [5])
    let ids = (0..<3).map { graph.addValue(Value(name: "v\($0)", type: type)) }
    graph.inputs = [ids[0]]
    graph.outputs = [ids[2]]
    graph.nodes = (0..<2).map {
      Node(name: "n\($0)", op: Unary(.relu), inputs: [ids[$0]], outputs: [ids[$0 + 1]], origins: [])
    }
    return graph
  }()

  private func invocation(on device: NullDevice, measuresNodes: Bool = false) throws -> any Invocation {
    let executable = try device.compile(
      Segment(
        graph: graph, precision: .full, threads: 1, isDeterministic: true, weights: MemoryPackedWeights(),
        blobs: NoBlobCache()))
    let slices = try (0..<2).map { _ in
      let slice = BufferSlice(try device.makeBuffer(byteCount: 20), offset: 0, byteCount: 20)
      try [Float](repeating: 1, count: 5).withUnsafeBytes { try slice.write($0) }
      return slice
    }
    return try executable.bind(
      Bindings(inputs: [slices[0]], outputs: [slices[1]], scratch: nil, measuresNodes: measuresNodes))
  }

  @Test func submissionsAreRecorded() throws {
    let (first, second) = (NullDevice(id: "null:0"), NullDevice(id: "null:1"))
    let (a, b) = (try invocation(on: first), try invocation(on: second))
    try a.submit()
    try b.submit()
    try a.submit()
    let nodes = ["n0", "n1"]
    #expect(
      first.submissions == [NullSubmission(number: 0, nodes: nodes), NullSubmission(number: 1, nodes: nodes)])
    #expect(second.submissions == [NullSubmission(number: 0, nodes: nodes)])
  }

  @Test func outputsAreZero() throws {
    let outputs = try NullDevice().run(graph, [Tensor([Float](repeating: 3, count: 5), [5])]).outputs
    #expect(outputs[0].floats == [0, 0, 0, 0, 0])
  }

  @Test func givenCostsAreReported() throws {
    let device = NullDevice(seconds: { node, _ in node.name == "n0" ? 2 : 3 })
    let measured = try invocation(on: device, measuresNodes: true)
    #expect(measured.nodeTimings.isEmpty)
    try measured.submit()
    #expect(measured.nodeTimings.map(\.seconds) == [2, 3])
    #expect(measured.nodeTimings.map(\.start) == [0, 2])
    #expect(try invocation(on: device).nodeTimings.isEmpty)
  }

  @Test func unsupportedNodesAreRefused() throws {
    let device = NullDevice(supports: { node, _ in node.name == "n1" ? .unsupported("not today") : .supported })
    #expect(device.support(for: graph.nodes[0], in: graph, precision: .full) == .supported)
    #expect(device.support(for: graph.nodes[1], in: graph, precision: .full) == .unsupported("not today"))
    let error = #expect(throws: DeviceError.self) { _ = try invocation(on: device) }
    #expect(error?.reason == "not today")
  }
}
