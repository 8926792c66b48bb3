import KelvinBasics
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import Testing

@Suite struct KernelDeviceTests {
  @Test(arguments: [true, false])
  func runsTheBodyOfANodeWhoseFusedKernelRefusesIt(refuses: Bool) throws {
    let (graph, input) = try fused(weightIsConstant: true)
    let device = PickyDevice(refusesFused: refuses)
    #expect(device.support(for: graph.nodes[0], in: graph, precision: .full) == .supported)
    let expanded = device.expanded(graph)
    #expect(expanded.graph.nodes.count == (refuses ? 2 : 1))
    #expect(expanded.parents.allSatisfy { $0 == "fused" })
    let results = try ReferenceDevice().run(expanded.graph, [input]).outputs.map(\.floats)
    #expect(results == (try ReferenceDevice().run(graph, [input]).outputs.map(\.floats)))
  }

  @Test func saysWhatTheBodyLacks() throws {
    let (graph, _) = try fused(weightIsConstant: false)
    let support = PickyDevice(refusesFused: true).support(for: graph.nodes[0], in: graph, precision: .full)
    #expect(support == .unsupported("weights that are not constant"))
  }

  @Test func answersOnePrecisionToAllThatItComputesAlike() throws {
    let (graph, _) = try fused(weightIsConstant: true)
    let device = ReferenceDevice()
    #expect(Precision.allCases.allSatisfy { device.effectivePrecision($0, of: graph.nodes[0], in: graph) == .full })
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
      try .fused(name: "fused", op: op, inputs: [x, w], types: [input.type, weight.type], output: y, origins: [])
    ]
    graph.inputs = weightIsConstant ? [x] : [x, w]
    graph.outputs = [y]
    try graph.verify()
    return (graph, input)
  }
}

/// The reference device, with a Linear kernel that may refuse fused nodes and always wants constant weights.
private final class PickyDevice: KernelDevice {
  private let reference = ReferenceDevice()
  private let refusesFused: Bool
  var info: DeviceInfo { reference.info }

  init(refusesFused: Bool) { self.refusesFused = refusesFused }

  func checkKernel(for node: Node, in graph: Graph) throws(DeviceError) {
    func unsupported(_ reason: String) -> DeviceError {
      DeviceError(.unsupported, device: info.id, place: node.name, reason: reason)
    }
    guard let linear = node.op as? Linear else { return }
    if graph[node.inputs[1]].weight == nil { throw unsupported("weights that are not constant") }
    if linear.epilogue.isFused, refusesFused { throw unsupported("activations") }
  }

  func compile(_ segment: Segment) throws(DeviceError) -> any Executable { try reference.compile(segment) }

  func makeBuffer(byteCount: Int) throws(DeviceError) -> any Buffer { try reference.makeBuffer(byteCount: byteCount) }
}
