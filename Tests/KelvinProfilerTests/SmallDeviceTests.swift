import KelvinBasics
import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinProfiler
import KelvinReference
import KelvinRuntime
import TestSupport
import Testing

/// A card whose free memory holds two of the four weights of a model, and their values.
@Suite struct SmallDeviceTests {
  private let clock = VirtualClock()

  private func context(free: Int) throws -> (ModelContext, Tensor) {
    var random = SeededGenerator(seed: 5)
    var graph = Graph()
    let input = Tensor.random(.float32, [64, 256], -1...1, &random)
    var last = graph.addValue(Value(name: "x", type: input.type))
    graph.inputs = [last]
    for index in 0..<4 {
      let matrix = Tensor.random(.float32, [256, 256], -0.1...0.1, &random)
      let weight = graph.addValue(Value(name: "w\(index)", type: matrix.type, weight: Weight(matrix)))
      let next = graph.addValue(Value(name: "y\(index)", type: input.type))
      let origin = Origin(name: "product \(index)", kind: Linear.name, index: index)
      graph.nodes.append(
        Node(name: "product \(index)", op: Linear(), inputs: [last, weight], outputs: [next], origins: [origin]))
      last = next
    }
    graph.outputs = [last]
    let card = TimedDevice("gpu:0", kind: .discreteGPU, clock: clock) { _ in 1e-4 }
    card.health.took(byteCount: card.info.memory - free)
    let devices: [any Device] = [
      TimedDevice("cpu", kind: .cpu, clock: clock) { _ in 1e-2 }, card, ReferenceDevice(),
    ]
    let context = ModelContext(
      name: "products.onnx", key: ContentKey(["products"]), function: "main", graph: graph,
      inventory: DeviceInventory(devices.map { DeviceListing($0) }), cache: nil, costs: CostSheet())
    return (context, input)
  }

  @Test(arguments: [(1 << 30, 0...0), (1060 << 10, 1...3)])
  func profileMeasuresTheNodesThatTheMemoryHolds(free: Int, elsewhere: ClosedRange<Int>) throws {
    let (context, input) = try context(free: free)
    var options = ProfilerOptions()
    options.budget = 0.05
    let result = try NodeProfiler(
      context, PlanRequest(units: .devices(["gpu:0"])), inputs: [input], options: options, kelvinVersion: "test",
      clock: clock, files: noFiles
    ).run()
    let card = try #require(result.devices.first { $0.device.id == "gpu:0" }, "\(result.remarks)")
    #expect(elsewhere.contains(card.nodesElsewhere), "\(card.nodesElsewhere)")
    // Equal products have equal costs, so plans know all of them.
    #expect(result.profile.nodes.values.allSatisfy { $0["gpu:0"] != nil })
    let weights = try #require(result.profile.models.values.first).nodes.map { $0.weights?.map(\.bytes) }
    #expect(weights == Array(repeating: [256 << 10], count: 4))
  }
}
