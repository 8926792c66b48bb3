import CFaultyDrivers
import ConformanceChecks
import Glibc
import KelvinBasics
import KelvinDevices
import KelvinGraph
import KelvinPlanning
import KelvinRuntime
import Synchronization
import TestSupport
import Testing

/// A card that copies weights from the host before each use, because it has no memory for all of them.
@Suite(.serialized) struct WeightStreamTests {
  /// Two sessions share the ring, in which more weights than it has places take turns.
  @Test func weightsTakeTurnsWithinTheMemory() async {
    await #expect(processExitsWith: .success) {
      // Otherwise new memory is filled, by copies that would be counted.
      unsetenv("KELVIN_POISON_MEMORY")
      guard let card = try StreamingCard() else { leave() }
      #expect(streamPlaces == PlanningProblem.ringPlaces)
      let streamed = try #require(card.solution.streamed)
      #expect(Set(card.solution.placement.values) == [card.device.info.id])
      #expect(streamed.count > 2 * streamPlaces && streamed.count < LimitedPlan.count, "\(streamed)")
      let model = try card.compiled()
      var peak = faulty_peak_bytes()
      var sessions: [Session] = []
      for _ in 0..<2 {
        faulty_order(card.order)
        sessions.append(try model.makeSession())
        // The input and the output are copied too.
        #expect(Int(faulty_calls("vkCmdCopyBuffer")) == streamed.count + 2)
        peak = max(peak, faulty_peak_bytes())
      }
      for run in 0..<6 {
        faulty_order(card.order)
        try card.check(sessions[run % 2], run)
        #expect(faulty_calls("vkQueueSubmit") == 1 && faulty_calls("vkWaitForFences") == 1, "run \(run)")
        peak = max(peak, faulty_peak_bytes())
      }
      #expect(peak <= card.order.memory, "\(peak) of \(card.order.memory) bytes")
      leave()
    }
  }

  /// The kernels of each node wait for its weights, and the copies for kernels that read the place before.
  @Test func answersWithPoisonedMemoryAreTheHosts() async {
    await #expect(processExitsWith: .success) {
      setenv("KELVIN_POISON_MEMORY", "255", 1)
      guard let card = try StreamingCard() else { leave() }
      let session = try card.compiled().makeSession(measuresNodes: true)
      for run in 0..<3 { try card.check(session, run) }
      leave()
    }
  }

  @Test func interruptedWorkLeavesNoMemoryBehind() async {
    await #expect(processExitsWith: .success) {
      guard let card = try StreamingCard() else { leave() }
      func use() throws {
        let session = try card.compiled().makeSession()
        let cancelled = Cancellation()
        cancelled.cancel()
        #expect(throws: RuntimeError.self) { _ = try session.run([card.input(0)], cancelled) }
        try card.check(session, 0)
      }
      // The first use makes what the device keeps.
      try use()
      let held = faulty_held_bytes()
      try use()
      #expect(faulty_held_bytes() == held)
      for steps in [1, 9, 21] {
        #expect(throws: RuntimeError.self) { _ = try card.compiled(cancelledAfter: steps) }
        #expect(faulty_held_bytes() == held, "cancelled after \(steps) steps")
      }
      // The card has memory for what stays, but not for the ring.
      do {
        let model = try card.compiled()
        var order = card.order
        order.hidden = order.memory - faulty_held_bytes() - UInt(LimitedPlan.weightBytes)
        faulty_order(order)
        #expect(throws: RuntimeError.self) { _ = try model.makeSession() }
        faulty_order(card.order)
        try card.check(try model.makeSession(), 0)
      }
      #expect(faulty_held_bytes() == held)
      leave()
    }
  }

  @Test func cardThatIsLostWhileItStreamsIsOut() async {
    await #expect(processExitsWith: .success) {
      guard let card = try StreamingCard() else { leave() }
      let session = try card.compiled().makeSession()
      _ = try session.run([card.input(0)])
      var loss = FaultyFault.answering("vkWaitForFences", code: Interface.vulkan.codes.lost)
      (loss.card, loss.memory) = (card.order.card, card.order.memory)
      faulty_order(loss)
      #expect(throws: RuntimeError.self) { _ = try session.run([card.input(1)]) }
      #expect(card.device.health.failure?.code == .lost)
      #expect(throws: RuntimeError.self) { _ = try session.run([card.input(1)]) }
      leave()
    }
  }
}

private final class Checks: Sendable {
  let count = Atomic(0)
}

/// A chain of products, of which a discrete card has memory for about six. Its bus is so fast that copies of the others
/// pay.
private struct StreamingCard {
  let order: FaultyOrder
  let machine: FaultyMachine
  let device: any Device
  let graph: Graph
  let solution: PlanSolution
  let host: Session

  /// - Returns: nil without a driver.
  init?() throws {
    var order = FaultyOrder()
    (order.card, order.memory) = (FaultyCardDiscrete, UInt(6 * LimitedPlan.weightBytes))
    self.order = order
    machine = FaultyMachine(.vulkan, order)
    guard let device = machine.device else { return nil }
    self.device = device
    let (graph, machine) = (try LimitedPlan.chain(), machine)
    self.graph = graph
    let costs = LimitedPlan.costs(graph, on: [device, machine.inventory.host], bytesPerSecond: 1e10)
    let planner = Planner(inventory: machine.inventory, costs: costs)
    func solution(_ units: [String]) throws -> PlanSolution {
      try planner.problem(graph, PlanRequest(units: .devices(units), precision: .full)).solve()
    }
    self.solution = try solution(["cpu", device.info.id])
    host = try Self.compiled(graph, try solution(["cpu"]), machine).makeSession()
  }

  /// Compares an answer with the host's.
  func check(_ session: Session, _ seed: Int) throws {
    let (output, expected) = (try session.run([input(seed)])[0], try host.run([input(seed)])[0])
    #expect(Tolerance(relative: 1e-3, absolute: 1e-5).difference(of: output, from: expected) == nil, "input \(seed)")
  }

  func input(_ seed: Int) -> Tensor {
    var random = SeededGenerator(seed: UInt64(seed))
    return Tensor.random(.float32, graph.types(graph.inputs)[0].shape, -1...1, &random)
  }

  /// - Parameter steps: the number of checks after which the compilation is cancelled; nil for none.
  func compiled(cancelledAfter steps: Int? = nil) throws -> CompiledModel {
    try Self.compiled(graph, solution, machine, cancelledAfter: steps)
  }

  private static func compiled(
    _ graph: Graph, _ solution: PlanSolution, _ machine: FaultyMachine, cancelledAfter steps: Int? = nil
  ) throws -> CompiledModel {
    let checks = Checks()
    return try CompiledModel(
      graph, placement: solution.placement, transfers: solution.transfers, streamed: Set(solution.streamed ?? []),
      inventory: machine.inventory, precision: .full, threads: 1,
      storage: { _ in (MemoryPackedWeights(), NoBlobCache()) },
      observer: CompiledModel.Observer(isCancelled: {
        checks.count.add(1, ordering: .relaxed).newValue > steps ?? .max
      }))
  }
}
