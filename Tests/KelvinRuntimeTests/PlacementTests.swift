import ConformanceChecks
import KelvinBasics
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import TestSupport
import Testing

/// Any placement gives the reference's results, with exactly the plan's copies.
@Suite struct PlacementTests {
  private let inventory = DeviceInventory([
    DeviceListing(ReferenceDevice()), DeviceListing(DeferredDevice(id: "private", isUnified: false)),
    DeviceListing(DeferredDevice(id: "unified", isUnified: true)),
  ])
  private static let devices = ["reference", "private", "unified"]

  private func solve(_ graph: Graph, _ pins: [String: String]) throws -> PlanSolution {
    let request = PlanRequest(units: .devices(Self.devices), pins: pins)
    return try Planner(inventory: inventory, costs: CostSheet()).problem(graph, request).solve()
  }

  private func compile(_ graph: Graph, _ solution: PlanSolution) throws -> CompiledModel {
    try CompiledModel(
      graph, placement: solution.placement, transfers: solution.transfers, inventory: inventory, precision: .full,
      threads: 1, storage: { _ in (MemoryPackedWeights(), NoBlobCache()) })
  }

  @Test(arguments: Tier.seeds(50, of: 400)) func randomPlacementsAgreeWithTheReference(seed: Int) throws {
    let (graph, inputs) = try RandomGraph.make(seed: UInt64(seed), nodes: 5 + seed % 20)
    var random = SeededGenerator(seed: UInt64(seed) ^ 0xFACE)
    var pins: [String: String] = [:]
    for node in graph.nodes { pins[node.name] = Self.devices[Int.random(in: 0..<3, using: &random)] }
    let solution = try solve(graph, pins)
    #expect(solution.placement == pins)
    let session = try compile(graph, solution).makeSession()
    let expected = try ReferenceDevice().run(graph, inputs).outputs
    for _ in 0..<2 {
      let outputs = try session.run(inputs)
      #expect(session.transferCount == solution.transfers.count, "seed \(seed)")
      for (wanted, got) in zip(expected, outputs) {
        #expect(Tolerance.exact.difference(of: got, from: wanted) == nil, "seed \(seed)\n\(graph)\n\(pins)")
      }
    }
  }

  @Test func independentDevicesStartBeforeAnyWait() throws {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let origin = Origin(name: "layer", kind: "Test", index: 0)
    let x = try builder.input("x", TensorType(.float32, [4]))
    var ends: [ValueID] = []
    for branch in ["private", "unified", "reference"] {
      ends.append(try builder.add(Unary(.relu), x, name: branch, origin: origin))
    }
    let sum = try builder.add(Binary(.add), ends[0], ends[1], name: "sum", origin: origin)
    builder.output(try builder.add(Binary(.add), sum, ends[2], name: "total", origin: origin))
    let graph = try builder.finish()
    let pins = [
      "private": "private", "unified": "unified", "reference": "reference", "sum": "reference", "total": "reference",
    ]
    let model = try compile(graph, try solve(graph, pins))
    let runs = model.schedule.steps.compactMap { step -> String? in
      if case .run(let segment) = step { return model.schedule.segments[segment].device }
      return nil
    }
    #expect(runs.prefix(3) == ["private", "unified", "reference"])
  }

  @Test func segmentNeverDependsOnItself() throws {
    // a on one device feeds b on another, which feeds c on the first: c cannot join a's segment.
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let origin = Origin(name: "layer", kind: "Test", index: 0)
    let x = try builder.input("x", TensorType(.float32, [4]))
    let a = try builder.add(Unary(.relu), x, name: "a", origin: origin)
    let b = try builder.add(Unary(.relu), a, name: "b", origin: origin)
    builder.output(try builder.add(Binary(.add), a, b, name: "c", origin: origin))
    let graph = try builder.finish()
    let model = try compile(graph, try solve(graph, ["a": "private", "b": "unified", "c": "private"]))
    #expect(model.schedule.segments.map { $0.graph.nodes.map(\.name) } == [["a"], ["b"], ["c"]])
  }

  @Test func independentNodesOfOneDeviceShareASegment() throws {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let origin = Origin(name: "layer", kind: "Test", index: 0)
    let x = try builder.input("x", TensorType(.float32, [4]))
    let a = try builder.add(Unary(.relu), x, name: "a", origin: origin)
    let b = try builder.add(Unary(.sigmoid), x, name: "b", origin: origin)
    let c = try builder.add(Unary(.sigmoid), x, name: "c", origin: origin)
    let d = try builder.add(Binary(.add), a, c, name: "d", origin: origin)
    builder.output(try builder.add(Binary(.add), b, d, name: "e", origin: origin))
    let graph = try builder.finish()
    let pins = ["a": "private", "b": "reference", "c": "private", "d": "private", "e": "reference"]
    let model = try compile(graph, try solve(graph, pins))
    #expect(model.schedule.segments.map { $0.graph.nodes.map(\.name) } == [["a", "c", "d"], ["b"], ["e"]])
  }

  @Test func joinDoesNotDelayEarlierNodes() throws {
    // `n` on the host needs the device's result; `c`, which does not, is computed while the device works.
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let origin = Origin(name: "layer", kind: "Test", index: 0)
    let x = try builder.input("x", TensorType(.float32, [4]))
    let c = try builder.add(Unary(.relu), x, name: "c", origin: origin)
    let b = try builder.add(Unary(.sigmoid), x, name: "b", origin: origin)
    builder.output(try builder.add(Binary(.add), c, b, name: "n", origin: origin))
    let graph = try builder.finish()
    let model = try compile(graph, try solve(graph, ["c": "reference", "b": "private", "n": "reference"]))
    let runs = model.schedule.steps.compactMap { step -> [String]? in
      if case .run(let segment) = step { return model.schedule.segments[segment].graph.nodes.map(\.name) }
      return nil
    }
    #expect(runs == [["b"], ["c"], ["n"]])
  }

  @Test func hostComputesBeforeWaitingForDevices() throws {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let origin = Origin(name: "layer", kind: "Test", index: 0)
    let x = try builder.input("x", TensorType(.float32, [4]))
    let a = try builder.add(Unary(.relu), x, name: "a", origin: origin)
    let b = try builder.add(Unary(.sigmoid), a, name: "b", origin: origin)
    let c = try builder.add(Unary(.sigmoid), x, name: "c", origin: origin)
    builder.output(b)
    builder.output(c)
    let graph = try builder.finish()
    let model = try compile(graph, try solve(graph, ["a": "private", "b": "unified", "c": "reference"]))
    let runs = model.schedule.steps.compactMap { step -> [String]? in
      if case .run(let segment) = step { return model.schedule.segments[segment].graph.nodes.map(\.name) }
      return nil
    }
    #expect(runs == [["a"], ["c"], ["b"]])
  }

  @Test func planForAnotherModelIsRefused() throws {
    let (graph, _) = try RandomGraph.make(seed: 1)
    #expect(throws: RuntimeError.self) {
      try Schedule(FlatGraph(graph), placement: [:], transfers: [], host: "reference", isHost: { _ in true })
    }
    // Without its copies the plan never brings values where they are needed.
    let placement = Dictionary(uniqueKeysWithValues: graph.nodes.map { ($0.name, "private") })
    #expect(throws: RuntimeError.self) {
      try Schedule(
        FlatGraph(graph), placement: placement, transfers: [], host: "reference", isHost: { $0 == "reference" })
    }
  }

  @Test func invalidInputsAreNamed() throws {
    let (graph, inputs) = try RandomGraph.make(seed: 2)
    let session = try compile(graph, try solve(graph, [:])).makeSession()
    #expect(throws: RuntimeError.self) { try session.run([]) }
    let error = #expect(throws: RuntimeError.self) { try session.run([inputs[0].reshaped(to: [60])]) }
    #expect(error?.description.contains("'x'") == true)
    #expect(error?.description.contains("60") == true)
  }

  @Test func compilingCanBeCancelled() throws {
    let (graph, _) = try RandomGraph.make(seed: 3)
    let solution = try solve(graph, [:])
    #expect(throws: RuntimeError.self) {
      try CompiledModel(
        graph, placement: solution.placement, transfers: solution.transfers, inventory: inventory, precision: .full,
        threads: 1, storage: { _ in (MemoryPackedWeights(), NoBlobCache()) },
        observer: .init(isCancelled: { true }))
    }
  }
}
