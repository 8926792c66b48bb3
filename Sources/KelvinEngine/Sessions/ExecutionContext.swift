import KelvinRuntime

/// The memory of one prediction at a time, and the sessions that are bound to it: of all compiled forms of a graph, and
/// for the arrays that callers want outputs written into.
///
/// Touched only by whoever it is lent to.
final class ExecutionContext: @unchecked Sendable {
  private struct Bound {
    /// The form, for as long as it is kept.
    weak var pool: SessionPool?
    let outputs: OutputMemory
    let session: Session
  }

  private var memory = SessionArena()
  /// The one used last at the end.
  private var bound: [Bound] = []

  /// Sessions of one form that write into memory of callers.
  private static let callersLimit = 4
  /// Memory that is more than this many times as large as any form needs is let go.
  private static let waste = 4

  /// Whether it has a session of a form that writes into these arrays.
  func has(_ pool: SessionPool, _ outputs: OutputMemory) -> Bool { place(pool, outputs) != nil }

  /// The session of a form that writes into these arrays, made where there is none.
  ///
  /// - Throws: `device`.
  func session(of pool: SessionPool, _ outputs: OutputMemory) throws(RuntimeError) -> Session {
    letGo(needing: pool.model.sessionByteCount)
    if let place = place(pool, outputs) {
      bound.append(bound.remove(at: place))
      return bound[bound.count - 1].session
    }
    defer { bound.removeAll { $0.session.isOutgrown } }
    let session = try pool.model.makeSession(outputs: outputs.buffers, memory: memory)
    bound.append(Bound(pool: pool, outputs: outputs, session: session))
    let callers = bound.indices.filter { bound[$0].session.model === pool.model && !bound[$0].outputs.isEmpty }
    if callers.count > Self.callersLimit { bound.remove(at: callers[0]) }
    return session
  }

  /// Drops a session that is not to be used again.
  func drop(_ session: Session) { bound.removeAll { $0.session === session } }

  /// Forms are told apart by their models: who looks at `pool` may be the last to hold it, and this is asked under the
  /// lock that a pool takes when it goes.
  private func place(_ pool: SessionPool, _ outputs: OutputMemory) -> Int? {
    bound.lastIndex { $0.session.model === pool.model && $0.outputs.identity == outputs.identity }
  }

  /// Lets go of sessions whose forms are gone, and of memory that those needed and the others do not.
  ///
  /// - Parameter byteCount: what is about to be needed.
  func letGo(needing byteCount: Int = 0) {
    let count = bound.count
    bound.removeAll { $0.pool == nil }
    guard bound.count < count else { return }
    let needed = bound.reduce(byteCount) { max($0, $1.session.model.sessionByteCount) }
    guard memory.byteCount / Self.waste > needed else { return }
    memory = SessionArena()
    bound = []
  }
}
