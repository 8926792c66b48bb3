import KelvinRuntime

/// How many predictions run one graph at a time, and the memory of each: compiled forms for other sizes take turns on it.
final class SessionLanes: Sendable {
  private struct State {
    /// The one used last at the end.
    var idle: [SessionMemory] = []
    var lent = 0
  }

  private let state = Monitor(State())

  /// Further predictions wait.
  static let limit = min(max(4, defaultThreadCount), 16)

  /// Lends the memory of one prediction. A caller holds at most one at a time, and gives it back.
  ///
  /// - Parameter isBest: whether some idle memory is better than the others.
  /// - Throws: `cancelled` while waiting.
  func lend(_ cancellation: Cancellation?, _ isBest: (SessionMemory) -> Bool) throws(RuntimeError) -> SessionMemory {
    try state.wait(cancellation) { state in
      guard state.lent < Self.limit else { return nil }
      state.lent += 1
      if let best = state.idle.lastIndex(where: isBest) { return state.idle.remove(at: best) }
      return state.idle.popLast() ?? SessionMemory()
    }
  }

  /// - Parameter memory: what was lent; nil where it is not to be used again.
  func giveBack(_ memory: SessionMemory?) {
    state.withLock { state in
      state.lent -= 1
      if let memory { state.idle.append(memory) }
    }
  }
}
