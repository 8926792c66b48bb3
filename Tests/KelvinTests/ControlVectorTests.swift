import Kelvin
import KelvinBasics
import KelvinConformance
import KelvinDevices
import KelvinEngine
import KelvinFormats
import KelvinGraph
import KelvinPasses
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import TestSupport
import Testing

/// ONNX's control flow against vectors of an independent implementation: on the reference as it is read, and after
/// passes on each device alone and with every node placed at random.
@Suite struct ControlVectorTests {
  private static let folder = "\(SharedFiles.projectRoot)/Tests/Vectors/Control"
  static let cases = fileStems(in: folder, endingWith: ".kv")

  @Test func theVectorsAreThere() { #expect(Self.cases.count == 15) }

  private func graph(of name: String, _ vector: Vector) throws -> Graph {
    let model = name.split(separator: "_").dropLast().joined(separator: "_")
    let program = try readModel(at: "\(Self.folder)/\(model).onnx")
    let function = try #require(program.functions[program.defaultFunction])
    let shapes = Dictionary(uniqueKeysWithValues: vector.inputs.map { ($0.name, $0.tensor.shape) })
    return try function.graph(shapes: shapes, evaluator: ReferenceEvaluator())
  }

  private func run(
    _ graph: Graph, _ vector: Vector, units: [String], pins: [String: String] = [:]
  ) throws -> [Tensor] {
    let request = PlanRequest(units: .devices(units), precision: .full, threads: 2, pins: pins)
    let solution = try Planner(inventory: deviceInventory, costs: CostSheet()).problem(graph, request).solve()
    let compiled = try CompiledModel(
      graph, placement: solution.placement, transfers: solution.transfers, inventory: deviceInventory, precision: .full,
      threads: 2, storage: { _ in (MemoryPackedWeights(), NoBlobCache()) })
    let session = try compiled.makeSession()
    _ = try session.run(vector.inputs(of: graph))
    return try session.run(vector.inputs(of: graph))
  }

  @Test(arguments: cases) func agreesWithTheVector(name: String) throws {
    let vector = try Vector(path: "\(Self.folder)/\(name).kv")
    let raw = try graph(of: name, vector)
    try vector.check(raw, run(raw, vector, units: ["reference"]), "\(name), reference")
    let passed = try Pipeline.standard(ReferenceEvaluator()).run(raw).graph
    for device in ["cpu"] + ModelFixture.fastDevices {
      try vector.check(passed, run(passed, vector, units: [device]), "\(name), \(device)")
    }
    let devices = ModelFixture.fastDevices
    let flat = FlatGraph(passed)
    for seed in 0..<UInt64(12) {
      var random = SeededGenerator(seed: seed)
      var pins: [String: String] = [:]
      for node in flat.graph.nodes {
        pins[node.name] = try devices.filter {
          try deviceInventory.device($0).support(for: node, in: flat.graph, precision: .full).isSupported
        }.randomElement(using: &random)
      }
      for tie in flat.ties { pins[tie.second] = pins[tie.first] }
      try vector.check(passed, run(passed, vector, units: devices, pins: pins), "\(name), seed \(seed), \(pins)")
    }
  }
}
