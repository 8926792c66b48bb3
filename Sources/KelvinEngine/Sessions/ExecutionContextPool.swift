import KelvinRuntime

/// How many predictions run one graph at a time, and a lane for each.
final class ExecutionContextPool: Sendable {
  private struct State {
    /// The one used last at the end.
    var idle: [ExecutionContext] = []
    var acquired = 0
  }

  private let state = ConditionLock(State())

  /// Further predictions wait.
  static let limit = min(max(4, defaultThreadCount), 16)

  /// Lends a lane. A caller holds at most one at a time, and gives it back.
  ///
  /// - Parameter isBest: whether an idle lane is better than the others.
  /// - Throws: `cancelled` while waiting.
  func acquire(_ cancellation: Cancellation?, _ isBest: (ExecutionContext) -> Bool) throws(RuntimeError) -> ExecutionContext {
    try state.wait(cancellation) { state in
      guard state.acquired < Self.limit else { return nil }
      state.acquired += 1
      if let best = state.idle.lastIndex(where: isBest) { return state.idle.remove(at: best) }
      return state.idle.popLast() ?? ExecutionContext()
    }
  }

  /// Has every lane that is idle let go of what only forms needed that are gone. Lent ones do so when they are lent again.
  func letGo() {
    let contexts = state.withLock { state in
      defer { state.idle = [] }
      state.acquired += state.idle.count
      return state.idle
    }
    for context in contexts { context.letGo() }
    state.withLock { state in
      state.acquired -= contexts.count
      state.idle = contexts + state.idle
    }
  }

  /// - Parameter context: what was lent; nil where it is not to be used again.
  func release(_ context: ExecutionContext?) {
    state.withLock { state in
      state.acquired -= 1
      if let context { state.idle.append(context) }
    }
  }
}
