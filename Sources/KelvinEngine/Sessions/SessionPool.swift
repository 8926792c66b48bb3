import KelvinRuntime
import Synchronization

/// The sessions of one compiled form: a prediction borrows one, so predictions may run at the same time.
final class SessionPool: Sendable {
  /// A session that is in the pool has no owner and may be handed to any thread.
  private struct Idle: @unchecked Sendable {
    let session: Session
    /// What it runs in.
    let lane: SessionMemory
    /// What it writes outputs into.
    let outputs: OutputMemory
  }

  private struct State {
    var idle: [Idle] = []
    /// Callers' memory that was written lately by copying; a session is bound to it when it comes again.
    var seen: [OutputMemory.Identity] = []
  }

  let model: CompiledModel
  private let lanes: SessionLanes
  private let state = Mutex(State())

  /// Idle sessions that write into memory of a caller's.
  private static let boundLimit = 4

  /// - Parameter lanes: those of all compiled forms of the graph.
  init(_ model: CompiledModel, _ lanes: SessionLanes) {
    self.model = model
    self.lanes = lanes
  }

  /// Lends a session. A caller holds at most one of a graph at a time.
  ///
  /// - Parameter outputs: where the caller wants outputs written. From its second use on a session is bound to it, and
  ///   `Session.lentOutputs` says which outputs need no copy.
  /// - Throws: `cancelled` while waiting for a session; `device`; what `body` throws.
  func withSession<Result>(
    _ outputs: OutputMemory = OutputMemory(), _ cancellation: Cancellation? = nil, _ body: (Session) throws -> Result
  ) throws -> Result {
    let outputs = bindable(outputs)
    let lane = try lanes.lend(cancellation) { lane in state.withLock { index(of: lane, outputs, $0) != nil } }
    var returned: SessionMemory? = lane
    defer { lanes.giveBack(returned) }
    let session: Session
    do { session = try take(lane, outputs) ?? model.makeSession(outputs: outputs.buffers, memory: lane) } catch {
      returned = nil
      throw error
    }
    defer { if returned != nil { put(Idle(session: session, lane: lane, outputs: outputs)) } }
    do { return try body(session) } catch {
      // Neither a session that a device failed nor its memory is used again.
      if (error as? RuntimeError)?.isDeviceFailure == true { returned = nil }
      throw error
    }
  }

  /// The caller's memory where it has been seen before, else none.
  private func bindable(_ outputs: OutputMemory) -> OutputMemory {
    guard !outputs.isEmpty else { return outputs }
    return state.withLock { state in
      if state.seen.contains(outputs.identity) { return outputs }
      state.seen = Array((state.seen + [outputs.identity]).suffix(Self.boundLimit))
      return OutputMemory()
    }
  }

  private func index(of lane: SessionMemory, _ outputs: OutputMemory, _ state: State) -> Int? {
    state.idle.lastIndex { $0.lane === lane && $0.outputs.identity == outputs.identity }
  }

  private func take(_ lane: SessionMemory, _ outputs: OutputMemory) -> Session? {
    state.withLock { state in index(of: lane, outputs, state).map { state.idle.remove(at: $0).session } }
  }

  private func put(_ idle: Idle) {
    let dropped = state.withLock { state -> Idle? in
      state.idle.append(idle)
      let bound = state.idle.indices.filter { !state.idle[$0].outputs.isEmpty }
      return bound.count > Self.boundLimit ? state.idle.remove(at: bound[0]) : nil
    }
    withExtendedLifetime(dropped) {}
  }
}

extension RuntimeError {
  fileprivate var isDeviceFailure: Bool { if case .device = self { true } else { false } }
}
