import KelvinRuntime

/// The sessions of one compiled model: a prediction borrows one, so predictions may run at the same time.
final class SessionPool: Sendable {
  /// A session that is in the pool has no owner and may be handed to any thread.
  private struct Idle: @unchecked Sendable {
    let session: Session
    /// What it writes outputs into.
    let memory: OutputMemory
  }

  private struct State {
    var idle: [Idle] = []
    /// Sessions that are in use.
    var borrowed = 0
    /// Callers' memory that was written lately by copying; a session is bound to it when it comes again.
    var seen: [OutputMemory.Identity] = []
  }

  private struct Loan {
    var found: Idle?
    var memory: OutputMemory
    /// Makes room for a new session.
    var dropped: Idle?
  }

  let model: CompiledModel
  private let state = Monitor(State())

  /// Sessions of one model that are there at a time: further predictions wait.
  static let limit = min(max(4, defaultThreadCount), 16)
  /// Of these, idle ones that write into memory of a caller's.
  private static let boundLimit = 4

  init(_ model: CompiledModel) { self.model = model }

  /// Sessions that are there now, idle ones included.
  var count: Int { state.withLock { $0.idle.count + $0.borrowed } }

  /// Lends a session. A caller holds at most one of a pool at a time.
  ///
  /// - Parameter memory: where the caller wants outputs written. From its second use on a session is bound to it, and
  ///   `Session.lentOutputs` says which outputs need no copy.
  /// - Throws: `cancelled` while waiting for a session; `device`; what `body` throws.
  func withSession<Result>(
    _ memory: OutputMemory = OutputMemory(), _ cancellation: Cancellation? = nil, _ body: (Session) throws -> Result
  ) throws -> Result {
    let loan = try state.wait(cancellation) { borrow(memory, &$0) }
    var returned: Idle?
    defer { giveBack(returned) }
    let session = try loan.found?.session ?? model.makeSession(outputs: loan.memory.buffers)
    do {
      let result = try body(session)
      returned = Idle(session: session, memory: loan.memory)
      return result
    } catch {
      // A session that a device failed is not used again.
      if (error as? RuntimeError)?.isDeviceFailure != true { returned = Idle(session: session, memory: loan.memory) }
      throw error
    }
  }

  /// Nil where all sessions are in use.
  private func borrow(_ memory: OutputMemory, _ state: inout State) -> Loan? {
    guard state.borrowed < Self.limit else { return nil }
    state.borrowed += 1
    var memory = memory
    if !memory.isEmpty, !state.seen.contains(memory.identity) {
      state.seen = Array((state.seen + [memory.identity]).suffix(Self.boundLimit))
      memory = OutputMemory()
    }
    if let index = state.idle.lastIndex(where: { $0.memory.identity == memory.identity }) {
      return Loan(found: state.idle.remove(at: index), memory: memory)
    }
    let isFull = state.idle.count + state.borrowed > Self.limit
    return Loan(memory: memory, dropped: isFull ? state.idle.removeFirst() : nil)
  }

  private func giveBack(_ returned: Idle?) {
    let dropped = state.withLock { state -> Idle? in
      state.borrowed -= 1
      if let returned { state.idle.append(returned) }
      let bound = state.idle.indices.filter { !state.idle[$0].memory.isEmpty }
      return bound.count > Self.boundLimit ? state.idle.remove(at: bound[0]) : nil
    }
    withExtendedLifetime(dropped) {}
  }
}

extension RuntimeError {
  fileprivate var isDeviceFailure: Bool { if case .device = self { true } else { false } }
}
