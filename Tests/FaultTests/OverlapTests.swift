import CFaultyDrivers
import ConformanceChecks
import KelvinBasics
import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import TestSupport
import Testing

/// The CPU and another device work at the same time within one inference.
@Suite(.serialized) struct OverlapTests {
  private static let cards = [FaultyCardAsItIs.rawValue, FaultyCardDiscrete.rawValue]

  /// The trace of an inference shows a branch on the device while the CPU runs the other. A busy machine may run one
  /// after the other, but not in every run.
  @Test(arguments: Interface.allCases, cards)
  func branchesOverlapAfterACommonTrunk(interface: Interface, card: UInt32) async {
    await #expect(processExitsWith: .success) { [interface, card] in
      var order = FaultyOrder()
      order.card = FaultyCard(rawValue: card)
      let machine = FaultyMachine(interface, order)
      guard let device = machine.device?.info.id else { leave() }
      let (graph, input) = try OverlapTests.fork()
      let expected = try ReferenceDevice().run(graph, [input]).outputs[0]
      // A trunk on the device delays the CPU: results of an OpenCL card are copied when its queue is empty, and llvmpipe
      // computes inside the call that submits, so that a wait comes after the next segment.
      let readsLate = machine.device?.isReadWhileBusy == false || interface == .vulkan
      for trunk in readsLate ? ["cpu"] : ["cpu", device] {
        var pins: [String: String] = [:]
        for node in graph.nodes { pins[node.name] = node.name.hasPrefix("left") ? device : "cpu" }
        pins["trunk"] = trunk
        let request = PlanRequest(units: .devices(["cpu", device]), precision: .full, threads: 1, pins: pins)
        let solution = try Planner(inventory: machine.inventory, costs: CostSheet()).problem(graph, request).solve()
        /// Returns whether a run shows the overlap.
        func overlaps(_ costs: OverlapCosts?) throws -> Bool {
          let model = try CompiledModel(
            graph, placement: solution.placement, transfers: solution.transfers, inventory: machine.inventory,
            precision: .full, threads: 1, storage: { _ in (MemoryPackedWeights(), NoBlobCache()) }, overlap: costs)
          let session = try model.makeSession(measuresNodes: true)
          for _ in 0..<50 {
            let output = try session.run([input])[0]
            #expect(graph.tolerance(.full).difference(of: output, from: expected) == nil)
            let nodes = session.trace().filter { $0.kind == .node }
            func spans(_ branch: String) -> [Range<Double>] {
              nodes.filter { $0.name.contains(branch) }.map { $0.start..<$0.start + $0.duration }
            }
            let right = spans("right")
            #expect(!right.isEmpty && !spans("left").isEmpty)
            if spans("left").contains(where: { left in right.contains(where: left.overlaps) }) { return true }
          }
          return false
        }
        #expect(try overlaps(OverlapCosts(resources: [:]) { _, _, _ in 1 }), "trunk on \(trunk)")
        // The CPU waits for the whole segment of the device.
        #expect(try !overlaps(nil))
      }
      leave()
    }
  }

  /// x → trunk → two chains of four and of 24 products → join. The CPU is still at the long one when a slow driver begins.
  private static func fork() throws -> (Graph, Tensor) {
    var random = SeededGenerator(seed: 11)
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let origin = Origin(name: "layer", kind: "Test", index: 0)
    let type = TensorType(.float32, [128, 256])
    func product(_ x: ValueID, _ name: String) throws -> ValueID {
      let weight = builder.constant("\(name) weight", Tensor.random(.float32, [256, 256], -0.1...0.1, &random))
      return try builder.add(Linear(), x, weight, name: name, origin: origin)
    }
    let trunk = try product(try builder.input("x", type), "trunk")
    var (left, right) = (trunk, trunk)
    for index in 0..<4 { left = try product(left, "left \(index)") }
    for index in 0..<24 { right = try product(right, "right \(index)") }
    builder.output(try builder.add(Binary(.add), left, right, name: "join", origin: origin))
    return (try builder.finish(), Tensor.random(.float32, [128, 256], -1...1, &random))
  }
}
