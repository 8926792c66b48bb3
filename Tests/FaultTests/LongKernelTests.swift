import CFaultyDrivers
import KelvinDevices
import KelvinEngine
import KelvinFeatures
import KelvinGraph
import KelvinPlanning
import KelvinRuntime
import TestSupport
import Testing

/// Work that is expected to take long goes to the queue in parts, and gives the same numbers.
@Suite(.serialized) struct LongKernelTests {
  private static let cards = [FaultyCardAsItIs.rawValue, FaultyCardDiscrete.rawValue]

  @Test(.slow, arguments: Interface.allCases, cards)
  func longKernelsAreSubmittedInParts(interface: Interface, card: UInt32) async {
    await #expect(processExitsWith: .success) { [interface, card] in
      var order = FaultyOrder()
      order.card = FaultyCard(rawValue: card)
      let machine = FaultyMachine(interface, order)
      let loaded = try machine.load().loaded
      let inputs = try loaded.syntheticTensors(for: loaded.shown, seed: 7)
      let (whole, parts) =
        (interface == .vulkan ? ("vkQueueSubmit", "vkCmdDispatchBase") : ("clFlush", "clEnqueueNDRangeKernel"))
      /// Returns the answer, the time of each node, and the number of calls of the two functions.
      func run(expecting seconds: Double) throws -> (
        answer: [Tensor], nodes: Set<String>, submissions: UInt32, parts: UInt32
      ) {
        let solution = try loaded.shown.proven().explanation.solution
        let weights = MemoryPackedWeights()
        let model = try CompiledModel(
          loaded.context.graph, placement: solution.placement, transfers: solution.transfers,
          inventory: machine.inventory, precision: .full, threads: 1, storage: { _ in (weights, NoBlobCache()) },
          expecting: { _, _, _ in seconds })
        faulty_order(order)
        let session = try model.makeSession(measuresNodes: true)
        _ = try session.run(inputs)
        let before = (faulty_calls(whole), faulty_calls(parts))
        let answer = try session.run(inputs)
        let recorded = interface == .vulkan ? before.1 : faulty_calls(parts) - before.1
        return (answer, Set((session.record?.nodes ?? [:]).keys), faulty_calls(whole) - before.0, recorded)
      }
      let short = try run(expecting: 1e-4)
      // As long as twenty submissions may be, as far as the grids go.
      let long = try run(expecting: 10)
      #expect(long.answer == short.answer)
      #expect(long.nodes == short.nodes && !long.nodes.isEmpty)
      #expect(long.submissions > short.submissions + 8, "\(long.submissions) and \(short.submissions)")
      #expect(long.parts > short.parts + 8, "\(long.parts) and \(short.parts)")
    }
  }
}
