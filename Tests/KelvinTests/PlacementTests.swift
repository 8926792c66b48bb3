import ConformanceChecks
import Kelvin
import KelvinBasics
import KelvinConformance
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import Synchronization
import TestSupport
import Testing

/// Real models with every node pinned at random to CPU, Vulkan or OpenCL: results match the reference, the copies made
/// are the plan's, and memory stays flat.
@Suite(.serialized) struct PlacementTests {
  private static func check(_ path: String, seeds: Range<Int>, input: ClosedRange<Float>) throws {
    let process = OwnProcess()
    let loaded = try ModelFixture.load(path)
    let graph = loaded.context.graph
    var random = SeededGenerator(seed: 42)
    let inputs = graph.inputs.map { Tensor.random(graph[$0].type.scalar, graph[$0].type.shape, input, &random) }
    let expected = try ReferenceDevice().run(graph, inputs).outputs
    let tolerance = Tolerance(
      relative: 1e-3,
      absolute: graph.nodes.contains { $0.outputs.contains { graph[$0].type.scalar == .float16 } } ? 2e-2 : 1e-4)
    let weights = SharedWeights()
    var settled = 0
    for seed in seeds {
      var random = SeededGenerator(seed: UInt64(seed))
      var pins: [String: String] = [:]
      for node in graph.nodes {
        let able = try ModelFixture.fastDevices.filter {
          try deviceInventory.device($0).support(for: node, in: graph, precision: .full).isSupported
        }
        pins[node.name] = able.randomElement(using: &random)
      }
      let request = PlanRequest(
        units: .devices(ModelFixture.fastDevices), precision: .full, threads: 2, pins: pins)
      let solution = try loaded.context.planner.problem(graph, request).solve()
      #expect(solution.placement.filter { pins[$0.key] != nil } == pins)
      let model = try CompiledModel(
        graph, placement: solution.placement, transfers: solution.transfers, inventory: deviceInventory,
        precision: .full, threads: 2, storage: { weights.store($0) })
      let session = try model.makeSession()
      let outputs = try session.run(inputs)
      #expect(session.transferCount == solution.transfers.count, "seed \(seed)")
      for (wanted, got) in zip(expected, outputs) {
        #expect(tolerance.difference(of: got, from: wanted) == nil, "seed \(seed)")
      }
      if seed == seeds.lowerBound + seeds.count / 2 { settled = process.residentByteCount }
    }
    let growth = process.residentByteCount - settled
    #expect(growth < 96 << 20, "memory grew by \(growth) bytes over the second half of the placements")
  }

  @Test(arguments: ModelFixture.fastDevices) func compilingStopsBetweenLayers(device: String) throws {
    let loaded = try ModelFixture.load(ModelFixture.digits)
    let request = PlanRequest(units: .devices([device]), precision: .full)
    let solution = try loaded.context.planner.problem(loaded.context.graph, request).solve()
    let asked = Mutex(0)
    let observer = CompiledModel.Observer(isCancelled: {
      asked.withLock {
        $0 += 1
        return $0 > 5
      }
    })
    let error = #expect(throws: RuntimeError.self) {
      try loaded.context.compile(solution, precision: .full, threads: 1, observer: observer)
    }
    #expect(error?.description == "cancelled")
    #expect(asked.withLock { $0 } == 6, "asked once for each layer until it was to stop")
  }

  @Test func randomPlacementsOfDigitsMatchTheReference() async {
    await #expect(processExitsWith: .success) {
      try PlacementTests.check(ModelFixture.digits, seeds: Tier.seeds(50, of: 200), input: 0...255)
    }
  }

  @Test func randomPlacementsOfTheDigitsPackageMatch() async {
    await #expect(processExitsWith: .success) {
      try PlacementTests.check(ModelFixture.digitsPackage, seeds: Tier.seeds(5, of: 20), input: 0...255)
    }
  }

  @Test(.slow, .enabled(if: SharedFiles.root != nil, Comment(rawValue: SharedFiles.reason)))
  func randomPlacementsOfMobileNetMatchTheReference() async {
    await #expect(processExitsWith: .success) {
      try PlacementTests.check(SharedFiles.path("models/MobileNetV2_f32.onnx"), seeds: 0..<20, input: -1...1)
    }
  }
}
