import KelvinRuntime

/// The execution contexts of one graph, one for each concurrent prediction.
final class ExecutionContextPool: Sendable {
  private struct State {
    /// The idle contexts, the most recently used last.
    var idle: [ExecutionContext] = []
    var acquired = 0
  }

  private let state = ConditionLock(State())

  /// The maximum number of concurrent predictions; further ones wait.
  static let limit = min(max(4, defaultThreadCount), 16)

  /// Acquires a context. A caller holds at most one at a time and must release it.
  ///
  /// - Parameter isBest: whether an idle context is preferred.
  /// - Throws: `cancelled` while waiting.
  func acquire(_ cancellation: Cancellation?, _ isBest: (ExecutionContext) -> Bool) throws(RuntimeError)
    -> ExecutionContext
  {
    try state.wait(cancellation) { state in
      guard state.acquired < Self.limit else { return nil }
      state.acquired += 1
      if let best = state.idle.lastIndex(where: isBest) { return state.idle.remove(at: best) }
      return state.idle.popLast() ?? ExecutionContext()
    }
  }

  /// Releases sessions and memory of released specializations in every idle context. Acquired contexts do so when
  /// they are acquired again.
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

  /// - Parameter context: the acquired context; nil if it must not be used again.
  func release(_ context: ExecutionContext?) {
    state.withLock { state in
      state.acquired -= 1
      if let context { state.idle.append(context) }
    }
  }
}
