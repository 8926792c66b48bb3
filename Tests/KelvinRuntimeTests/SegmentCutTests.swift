import ConformanceChecks
import KelvinBasics
import KelvinDevices
import KelvinGraph
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import TestSupport
import Testing

/// Segments end early where another device then starts sooner.
@Suite struct SegmentCutTests {
  private let inventory = DeviceInventory([
    DeviceListing(ReferenceDevice()), DeviceListing(DeferredDevice(id: "private", isUnified: false)),
    DeviceListing(DeferredDevice(id: "unified", isUnified: true)),
  ])
  private static let devices = ["reference", "private", "unified"]

  private func compile(
    _ graph: Graph, _ pins: [String: String], resources: [String: String] = [:], late: Set<String> = [],
    _ seconds: @escaping (Node, Graph, String) -> Double?
  ) throws -> (model: CompiledModel, solution: PlanSolution) {
    let request = PlanRequest(units: .devices(Self.devices), pins: pins)
    let solution = try Planner(inventory: inventory, costs: CostSheet()).problem(graph, request).solve()
    let model = try CompiledModel(
      graph, placement: solution.placement, transfers: solution.transfers, inventory: inventory, precision: .full,
      threads: 1, storage: { _ in (MemoryPackedWeights(), NoBlobCache()) },
      overlap: OverlapCosts(resources: resources, late: late, seconds: seconds))
    return (model, solution)
  }

  /// x → trunk → left and right → join.
  private func fork() throws -> Graph {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let origin = Origin(name: "layer", kind: "Test", index: 0)
    let x = try builder.input("x", TensorType(.float32, [4]))
    let trunk = try builder.add(Unary(.relu), x, name: "trunk", origin: origin)
    let left = try builder.add(Unary(.sigmoid), trunk, name: "left", origin: origin)
    let right = try builder.add(Unary(UnaryFunction(.tanh)), trunk, name: "right", origin: origin)
    builder.output(try builder.add(Binary(.add), left, right, name: "join", origin: origin))
    return try builder.finish()
  }

  private func segments(_ model: CompiledModel) -> [[String]] {
    model.schedule.steps.compactMap { step in
      if case .run(let segment) = step { return model.schedule.segments[segment].graph.nodes.map(\.name) }
      return nil
    }
  }

  /// Both branches run at the same time, whichever device runs the trunk.
  @Test(arguments: ["private", "reference"]) func trunkEndsBeforeItsBranches(device: String) throws {
    let other = device == "private" ? "reference" : "private"
    let pins = ["trunk": device, "left": device, "right": other, "join": "reference"]
    let (model, _) = try compile(try fork(), pins) { _, _, _ in 1 }
    let branches = device == "private" ? [["left"], ["right"]] : [["right"], ["left"]]
    #expect(segments(model) == [["trunk"]] + branches + [["join"]])
  }

  @Test func segmentIsWholeWhereACutGainsNothing() throws {
    let pins = ["trunk": "private", "left": "private", "right": "reference", "join": "reference"]
    let whole = [["trunk", "left"], ["right", "join"]]
    func form(
      resources: [String: String] = [:], late: Set<String> = [], _ seconds: @escaping (String) -> Double?
    ) throws -> [[String]] {
      let (model, _) = try compile(try fork(), pins, resources: resources, late: late) { node, _, _ in
        seconds(node.name)
      }
      return segments(model)
    }
    // The branch on the host is short, the costs are unknown, the devices share their silicon, or the trunk is read only
    // when the device has finished both segments.
    #expect(try form { $0 == "right" ? 0.01 : 1 } == whole)
    #expect(try form { $0 == "right" ? nil : 1 } == whole)
    #expect(try form(resources: ["private": "cpu", "reference": "cpu"]) { _ in 1 } == whole)
    #expect(try form(late: ["private"]) { _ in 1 } == whole)
    #expect(try form { _ in 1 } != whole)
  }

  @Test(arguments: Tier.seeds(50, of: 400)) func cutsChangeNoResultAndNoCopy(seed: Int) throws {
    let (graph, inputs) = try RandomGraph.make(seed: UInt64(seed), nodes: 5 + seed % 20)
    var random = SeededGenerator(seed: UInt64(seed) ^ 0xC075)
    var pins: [String: String] = [:]
    var seconds: [String: Double] = [:]
    for node in graph.nodes {
      pins[node.name] = Self.devices[Int.random(in: 0..<3, using: &random)]
      seconds[node.name] = random.unit()
    }
    let (model, solution) = try compile(graph, pins) { [seconds] node, _, _ in seconds[node.name] }
    #expect(segments(model).joined().sorted() == graph.nodes.map(\.name).sorted())
    let session = try model.makeSession()
    let expected = try ReferenceDevice().run(graph, inputs).outputs
    for _ in 0..<2 {
      let outputs = try session.run(inputs)
      #expect(session.transferCount == solution.transfers.count, "seed \(seed)")
      for (wanted, got) in zip(expected, outputs) {
        #expect(Tolerance.exact.difference(of: got, from: wanted) == nil, "seed \(seed)\n\(graph)\n\(pins)")
      }
    }
  }
}
