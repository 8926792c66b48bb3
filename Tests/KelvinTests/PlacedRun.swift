import KelvinBasics
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinPlanning
import KelvinRuntime
import TestSupport

/// Graphs with control flow and states, compiled where a test says.
extension Graph {
  /// - Parameter pins: devices of nodes and of the homes of states.
  func compiled(on devices: [String], pins: [String: String] = [:]) throws -> CompiledModel {
    let request = PlanRequest(units: .devices(devices), precision: .full, threads: 2, pins: pins)
    let solution = try Planner(inventory: deviceInventory, costs: CostSheet()).problem(self, request).solve()
    return try CompiledModel(
      self, placement: solution.placement, transfers: solution.transfers, inventory: deviceInventory, precision: .full,
      threads: 2, storage: { _ in (MemoryPackedWeights(), NoBlobCache()) })
  }

  /// The outputs of the second of two runs: the first must not affect them.
  func run(_ vector: Vector, on devices: [String], pins: [String: String] = [:]) throws -> [Tensor] {
    let session = try compiled(on: devices, pins: pins).makeSession()
    _ = try session.run(vector.inputs(of: self))
    return try session.run(vector.inputs(of: self))
  }

  /// A device for each node and state at random, one that runs it; the same for those that share one.
  func randomPins(seed: UInt64) throws -> [String: String] {
    let devices = ModelFixture.fastDevices
    let flat = FlatGraph(self)
    var random = SeededGenerator(seed: seed)
    var pins: [String: String] = [:]
    for node in flat.graph.nodes {
      pins[node.name] = try devices.filter {
        try deviceInventory.device($0).support(for: node, in: flat.graph, precision: .full).isSupported
      }.randomElement(using: &random)
    }
    for source in flat.sources { pins[source.name] = devices.randomElement(using: &random) }
    for tie in flat.ties.pairs { pins[tie.second] = pins[tie.first] }
    return pins
  }
}
