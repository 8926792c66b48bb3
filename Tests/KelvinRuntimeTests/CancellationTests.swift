import ConformanceChecks
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import Synchronization
import TestSupport
import Testing

/// A cancelled run ends at a check point, and has no effect on later runs.
@Suite struct CancellationTests {
  /// Calls a closure at one of the submissions to it.
  private final class Trigger: Sendable {
    private let state = Mutex((count: 0, action: (at: -1, body: (@Sendable () -> Void)?.none)))

    func arm(at count: Int, _ body: @escaping @Sendable () -> Void) {
      state.withLock { $0 = (0, (count, body)) }
    }

    func fire() {
      let body = state.withLock { state -> (@Sendable () -> Void)? in
        state.count += 1
        return state.count == state.action.at ? state.action.body : nil
      }
      body?()
    }

    var count: Int { state.withLock { $0.count } }
  }

  private static let devices = ["hooked", "private"]

  /// Alternating devices, so that there are many segments.
  private func makeModel(_ graph: Graph, _ trigger: Trigger) throws -> CompiledModel {
    let inventory = DeviceInventory([
      DeviceListing(ReferenceDevice()), DeviceListing(HookedDevice(id: "hooked") { trigger.fire() }),
      DeviceListing(DeferredDevice(id: "private", isUnified: false)),
    ])
    var pins: [String: String] = [:]
    for (index, node) in graph.nodes.enumerated() { pins[node.name] = Self.devices[index % 2] }
    let request = PlanRequest(units: .devices(Self.devices), pins: pins)
    let solution = try Planner(inventory: inventory, costs: CostSheet()).problem(graph, request).solve()
    return try CompiledModel(
      graph, placement: solution.placement, transfers: solution.transfers, inventory: inventory, precision: .full,
      threads: 1, storage: { _ in (MemoryPackedWeights(), NoBlobCache()) })
  }

  private func write(_ inputs: [Tensor], _ session: Session) {
    for (index, tensor) in inputs.enumerated() {
      tensor.bytes.withUnsafeBytes { raw in session.withInput(index) { $0.copyMemory(from: raw) } }
    }
  }

  @Test(arguments: Tier.seeds(8, of: 40)) func cancelledRunLeavesTheSessionUsable(seed: Int) throws {
    let (graph, inputs) = try RandomGraph.make(seed: UInt64(seed), nodes: 16)
    let trigger = Trigger()
    let session = try makeModel(graph, trigger).makeSession()
    let expected = try session.run(inputs)
    let submissions = trigger.count
    #expect(submissions > 1)
    for moment in 1...submissions {
      let cancellation = Cancellation()
      trigger.arm(at: moment) { cancellation.cancel() }
      write(inputs, session)
      let error = #expect(throws: RuntimeError.self) { try session.run(cancellation) }
      #expect(error?.description == "cancelled", "seed \(seed)")
      #expect(trigger.count == moment, "seed \(seed): nothing was submitted after the cancellation")
      trigger.arm(at: -1) {}
      for (wanted, got) in zip(expected, try session.run(inputs)) {
        #expect(Tolerance.exact.difference(of: got, from: wanted) == nil, "seed \(seed), moment \(moment)")
      }
    }
  }

  @Test func cancellingAfterTheRunChangesNothing() throws {
    let (graph, inputs) = try RandomGraph.make(seed: 1)
    let session = try makeModel(graph, Trigger()).makeSession()
    let expected = try session.run(inputs)
    let cancellation = Cancellation()
    write(inputs, session)
    try session.run(cancellation)
    cancellation.cancel()
    for (wanted, got) in zip(expected, try session.run(inputs)) {
      #expect(Tolerance.exact.difference(of: got, from: wanted) == nil)
    }
    #expect(throws: RuntimeError.self) { try session.run(cancellation) }
  }

  @Test func outputsAreWrittenIntoCallerMemory() throws {
    let (graph, inputs) = try RandomGraph.make(seed: 3)
    let model = try CompiledModel(
      graph, placement: Dictionary(uniqueKeysWithValues: graph.nodes.map { ($0.name, "reference") }), transfers: [],
      inventory: DeviceInventory([DeviceListing(ReferenceDevice())]), precision: .full, threads: 1,
      storage: { _ in (MemoryPackedWeights(), NoBlobCache()) })
    let expected = try model.makeSession().run(inputs)
    let memory = try HostBuffer(byteCount: graph[graph.outputs[0]].type.byteCount)
    let raw = UnsafeMutableRawBufferPointer(start: memory.hostPointer, count: memory.byteCount)
    let borrowed = try #require(CallerBuffer(raw, owner: memory))
    let session = try model.makeSession(outputs: [0: borrowed])
    #expect(session.callerOwnedOutputs == [0])
    _ = try session.run(inputs)
    #expect(UnsafeRawBufferPointer(raw).elementsEqual(expected[0].bytes.withUnsafeBytes { Array($0) }))
    // Memory of another size is not taken.
    let small = try #require(CallerBuffer(UnsafeMutableRawBufferPointer(rebasing: raw[..<4]), owner: memory))
    #expect(try model.makeSession(outputs: [0: small]).callerOwnedOutputs.isEmpty)
  }
}
