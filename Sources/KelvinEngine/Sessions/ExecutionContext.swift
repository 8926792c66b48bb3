import KelvinRuntime

/// The memory for one prediction at a time, and the sessions bound to it. Sessions belong to all specializations of a
/// graph, and to the arrays that callers want outputs written to.
///
/// Accessed only by the thread that has acquired it.
final class ExecutionContext: @unchecked Sendable {
  private struct Bound {
    /// The specialization; nil once it is released.
    weak var pool: SessionPool?
    let outputs: OutputMemory
    let session: Session
  }

  private var memory = SessionArena()
  /// The sessions, the most recently used last.
  private var bound: [Bound] = []

  /// The maximum number of sessions of one specialization that write to callers' memory.
  private static let callersLimit = 4
  /// Memory larger than this multiple of the required size is released.
  private static let waste = 4

  /// Whether there is a session of a specialization that writes to these arrays.
  func has(_ pool: SessionPool, _ outputs: OutputMemory) -> Bool { place(pool, outputs) != nil }

  /// Returns the session of a specialization that writes to these arrays, and creates it if there is none.
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

  /// Drops a session that must not be used again.
  func drop(_ session: Session) { bound.removeAll { $0.session === session } }

  /// Compares models instead of `pool`: a strong reference to the pool could become its last one, and its `deinit`
  /// takes the lock that is held here.
  private func place(_ pool: SessionPool, _ outputs: OutputMemory) -> Int? {
    bound.lastIndex { $0.session.model === pool.model && $0.outputs.identity == outputs.identity }
  }

  /// Releases sessions of released specializations, and memory that only they needed.
  ///
  /// - Parameter byteCount: the bytes needed next.
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
