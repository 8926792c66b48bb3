import CFaultyDrivers
import Glibc
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

/// Copies between the host and a card whose memory the host cannot address.
@Suite(.serialized) struct CardCopyTests {
  @Test func inferenceOnACardIsOneSubmissionAndOneWait() async {
    await #expect(processExitsWith: .success) {
      // Otherwise new memory is filled, by copies that would be counted.
      unsetenv("KELVIN_POISON_MEMORY")
      var order = FaultyOrder()
      order.card = FaultyCardDiscrete
      let machine = FaultyMachine(.vulkan, order)
      guard let device = machine.device else { leave() }
      let graph = try CardCopyTests.graph()
      let request = PlanRequest(units: .devices([device.info.id]), isStrict: true, precision: .full, threads: 1)
      let solution = try Planner(inventory: machine.inventory, costs: CostSheet()).problem(graph, request).solve()
      let model = try CompiledModel(
        graph, placement: solution.placement, transfers: solution.transfers, inventory: machine.inventory,
        precision: .full, threads: 1, storage: { _ in (MemoryPackedWeights(), NoBlobCache()) })
      var sessions: [Session] = []
      for _ in 0..<2 {
        faulty_order(order)
        sessions.append(try model.makeSession())
        // Each of two inputs and three outputs is copied once.
        #expect(faulty_calls("vkCmdCopyBuffer") == 5)
      }
      var random = SeededGenerator(seed: 5)
      for run in 0..<6 {
        let inputs = graph.types(graph.inputs).map { Tensor.random(.float32, $0.shape, -1...1, &random) }
        faulty_order(order)
        let outputs = try sessions[run % 2].run(inputs)
        #expect(faulty_calls("vkQueueSubmit") == 1, "run \(run)")
        #expect(faulty_calls("vkWaitForFences") == 1, "run \(run)")
        #expect(faulty_calls("vkCmdCopyBuffer") == 0, "run \(run)")
        for (wanted, got) in zip(try ReferenceDevice().run(graph, inputs).outputs, outputs) {
          #expect(graph.tolerance(.full).difference(of: got, from: wanted) == nil, "run \(run)")
        }
      }
      leave()
    }
  }

  /// A graph of two inputs and three outputs, one of which the others are computed from.
  private static func graph() throws -> Graph {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let origin = Origin(name: "layer", kind: "Test", index: 0)
    let type = TensorType(.float32, [2, 3, 5, 7])
    let (x, y) = (try builder.input("x", type), try builder.input("y", type))
    let first = try builder.add(Unary(.relu), x, name: "first", origin: origin)
    let second = try builder.add(Binary(.add), first, y, name: "second", origin: origin)
    let third = try builder.add(Binary(.multiply), second, x, name: "third", origin: origin)
    for output in [first, second, third] { builder.output(output) }
    return try builder.finish()
  }
}
