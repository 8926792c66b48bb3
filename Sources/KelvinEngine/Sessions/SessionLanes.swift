import KelvinRuntime

/// How many predictions run one graph at a time, and a lane for each.
final class SessionLanes: Sendable {
  private struct State {
    /// The one used last at the end.
    var idle: [SessionLane] = []
    var lent = 0
  }

  private let state = ConditionLock(State())

  /// Further predictions wait.
  static let limit = min(max(4, defaultThreadCount), 16)

  /// Lends a lane. A caller holds at most one at a time, and gives it back.
  ///
  /// - Parameter isBest: whether an idle lane is better than the others.
  /// - Throws: `cancelled` while waiting.
  func lend(_ cancellation: Cancellation?, _ isBest: (SessionLane) -> Bool) throws(RuntimeError) -> SessionLane {
    try state.wait(cancellation) { state in
      guard state.lent < Self.limit else { return nil }
      state.lent += 1
      if let best = state.idle.lastIndex(where: isBest) { return state.idle.remove(at: best) }
      return state.idle.popLast() ?? SessionLane()
    }
  }

  /// Has every lane that is idle let go of what only forms needed that are gone. Lent ones do so when they are lent again.
  func letGo() {
    let lanes = state.withLock { state in
      defer { state.idle = [] }
      state.lent += state.idle.count
      return state.idle
    }
    for lane in lanes { lane.letGo() }
    state.withLock { state in
      state.lent -= lanes.count
      state.idle = lanes + state.idle
    }
  }

  /// - Parameter lane: what was lent; nil where it is not to be used again.
  func giveBack(_ lane: SessionLane?) {
    state.withLock { state in
      state.lent -= 1
      if let lane { state.idle.append(lane) }
    }
  }
}
