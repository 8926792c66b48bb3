import ConformanceChecks
import KelvinBasics
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinPasses
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import TestSupport
import Testing

/// Branches, loops and states under any placement have the results of their regions.
@Suite struct ControlFlowTests {
  private let inventory = DeviceInventory([
    DeviceListing(ReferenceDevice()), DeviceListing(DeferredDevice(id: "private", isUnified: false)),
    DeviceListing(DeferredDevice(id: "unified", isUnified: true)),
  ])
  private static let devices = ["reference", "private", "unified"]

  private func compile(
    _ graph: Graph, _ pins: [String: String], overlap: OverlapCosts? = nil
  ) throws -> (model: CompiledModel, plan: PlanSolution) {
    let request = PlanRequest(units: .devices(Self.devices), pins: pins)
    let plan = try Planner(inventory: inventory, costs: CostSheet()).problem(graph, request).solve()
    let model = try CompiledModel(
      graph, placement: plan.placement, transfers: plan.transfers, inventory: inventory, precision: .full, threads: 1,
      storage: { _ in (MemoryPackedWeights(), NoBlobCache()) }, overlap: overlap)
    return (model, plan)
  }

  /// A device for every name, the same for names that share one.
  private func randomPins(_ graph: Graph, seed: UInt64) -> [String: String] {
    var random = SeededGenerator(seed: seed ^ 0xFACE)
    let flat = FlatGraph(graph)
    var pins: [String: String] = [:]
    for name in flat.placedNames { pins[name] = Self.devices[Int.random(in: 0..<3, using: &random)] }
    for tie in flat.ties.pairs { pins[tie.second] = pins[tie.first] }
    for control in flat.controls { pins[control.name] = "reference" }
    return pins
  }

  @Test(arguments: Tier.seeds(50, of: 600)) func randomPlacementsMatchTheInterpreter(seed: Int) throws {
    let (raw, inputs) = try RandomControlGraph.make(seed: UInt64(seed), depth: 1 + seed % 3)
    let graph = seed % 2 == 0 ? raw : try Pipeline.standard(ReferenceEvaluator()).run(raw).graph
    let pins = randomPins(graph, seed: UInt64(seed))
    // With costs, segments end early for the sake of other devices.
    let costs = OverlapCosts(resources: [:]) { node, _, _ in
      Double(node.name.utf8.reduce(0) { ($0 * 31 + Int($1)) % 97 })
    }
    let (model, plan) = try compile(graph, pins, overlap: seed % 3 == 0 ? nil : costs)
    #expect(plan.placement == pins, "seed \(seed)")
    let session = try model.makeSession()
    var interpreter = RegionInterpreter()
    for run in 0..<3 {
      let expected = try interpreter.run(raw, inputs)
      let outputs = try session.run(inputs)
      for (index, (wanted, got)) in zip(expected, outputs).enumerated() {
        #expect(
          Tolerance.exact.difference(of: got, from: wanted) == nil,
          "seed \(seed), run \(run), output \(index)\n\(graph)\n\(pins)")
      }
    }
  }

  /// Bytes that a session writes outputs into.
  private final class Memory: @unchecked Sendable {
    let bytes: UnsafeMutableRawBufferPointer
    init(byteCount: Int) { bytes = .allocate(byteCount: byteCount, alignment: 64) }
    deinit { bytes.deallocate() }
  }

  @Test(arguments: Tier.seeds(25, of: 200)) func outputsInCallerMemoryMatchTheInterpreter(seed: Int) throws {
    let (raw, inputs) = try RandomControlGraph.make(seed: UInt64(seed), depth: 2)
    let graph = try Pipeline.standard(ReferenceEvaluator()).run(raw).graph
    let (model, _) = try compile(graph, randomPins(graph, seed: UInt64(seed)))
    var borrowed: [Int: CallerBuffer] = [:]
    for (index, output) in model.graph.outputs.enumerated() {
      let memory = Memory(byteCount: model.graph[output].type.byteCount)
      borrowed[index] = CallerBuffer(memory.bytes, owner: memory)
    }
    let session = try model.makeSession(outputs: borrowed)
    var interpreter = RegionInterpreter()
    for run in 0..<2 {
      let expected = try interpreter.run(raw, inputs)
      let outputs = try session.run(inputs)
      for (index, (wanted, got)) in zip(expected, outputs).enumerated() {
        #expect(
          Tolerance.exact.difference(of: got, from: wanted) == nil,
          "seed \(seed), run \(run), output \(index)\n\(graph)")
      }
    }
  }

  @Test func unusedStateIsReleased() throws {
    let seed = try #require((0..<100).first { try !RandomControlGraph.make(seed: UInt64($0)).graph.states.isEmpty })
    let (graph, inputs) = try RandomControlGraph.make(seed: UInt64(seed))
    let (model, _) = try compile(graph, [:])
    weak var released: StateMemory?
    do {
      let state = StateMemory()
      released = state
      _ = try state.borrowing { try state.session(of: model).run(inputs) }
    }
    #expect(released == nil, "its sessions keep it alive")
  }

  /// The least predicted seconds over every placement of the nodes and homes, each copy counted as often as the control
  /// flow around its value is expected to run, and each start of a device as often as its region.
  @Test(arguments: Tier.seeds(20, of: 120)) func plansOfControlFlowAreOptimal(seed: Int) throws {
    let (raw, _) = try RandomControlGraph.make(seed: UInt64(seed) &* 31 &+ 7, depth: 1)
    let graph = try Pipeline.standard(ReferenceEvaluator()).run(raw).graph
    let iterations = IterationEstimate(standard: 5)
    let request = PlanRequest(units: .devices(Self.devices), iterations: iterations)
    let priced = try Planner(inventory: inventory, costs: CostSheet()).problem(graph, request)
    // The oracle knows nodes by the names they have in their regions, and tries every placement.
    let free = priced.nodes.filter { $0.seconds.count > 1 }
    guard free.count <= 7, !priced.nodes.contains(where: { $0.id.contains("/") }) else { return }
    var random = SeededGenerator(seed: UInt64(seed))
    // The estimates of one device are nearly those of another; random ones make placements differ.
    let nodes = priced.nodes.map { node in
      var node = node
      for device in node.seconds.keys.sorted() where node.seconds[device] != 0 {
        let base = Double(Int.random(in: 1...64, using: &random)) / 1024
        node.seconds[device] = base * (FlatGraph(graph, iterations: iterations).iterations(of: node.id) ?? 1)
      }
      for output in node.outputs.indices {
        for device in node.outputs[output].signalSeconds.keys.sorted() where device != priced.host {
          node.outputs[output].signalSeconds[device] = Double(Int.random(in: 0...8, using: &random)) / 1024
        }
      }
      return node
    }
    let links = Self.devices.flatMap { from in
      Self.devices.filter { $0 != from }.map { to in
        PlanningProblem.Transfer(
          from: from, to: to, latency: Double(Int.random(in: 0...16, using: &random)) / 1024, bytesPerSecond: nil)
      }
    }
    let problem = try PlanningProblem(
      devices: priced.devices, host: priced.host, transfers: links, inputs: priced.inputs, outputs: priced.outputs,
      nodes: nodes)
    let solution = try problem.solve()
    #expect(solution.method == .exact)
    let least = ControlOracle(graph, iterations, problem).least()
    #expect(abs(solution.predicted - least) < 1e-9, "seed \(seed): \(solution.predicted), least \(least)\n\(graph)")
  }
}

extension FlatGraph {
  fileprivate func iterations(of name: String) -> Double? {
    graph.nodes.firstIndex { $0.name == name }.map { places[$0].iterations }
  }
}
