import KelvinDevices
import KelvinRuntime
import Synchronization

/// The sessions of one specialization. Each prediction borrows one, so predictions may run at the same time.
final class SessionPool: Sendable {
  let model: CompiledModel
  private let contexts: ExecutionContextPool
  /// Callers' memory that recent outputs were copied to; at its next use, a session is bound to it.
  private let seen = Mutex<[OutputMemory.Identity]>([])

  private static let seenLimit = 4

  /// - Parameter contexts: the contexts shared by all specializations of the graph.
  init(_ model: CompiledModel, _ contexts: ExecutionContextPool) {
    self.model = model
    self.contexts = contexts
  }

  deinit { contexts.letGo() }

  /// Calls `body` with a session. A caller holds at most one session of a graph at a time.
  ///
  /// - Parameter outputs: the caller's memory for outputs. From its second use on, a session is bound to it, and
  ///   `Session.callerOwnedOutputs` says which outputs need no copy.
  /// - Throws: `cancelled` while waiting for a context; `device`; the errors of `body`.
  func withSession<Result>(
    _ outputs: OutputMemory = OutputMemory(), _ cancellation: Cancellation? = nil, _ body: (Session) throws -> Result
  ) throws -> Result {
    let outputs = bindable(outputs)
    let context = try contexts.acquire(cancellation) { $0.has(self, outputs) }
    var returned: ExecutionContext? = context
    defer { contexts.release(returned) }
    var session: Session?
    do {
      let made = try context.session(of: self, outputs)
      session = made
      return try body(made)
    } catch {
      var hasFailed = model.isOut
      if case RuntimeError.device = error { hasFailed = true }
      if hasFailed, let session { context.drop(session) }
      // The memory can be used again unless a device has failed, which may still be accessing it.
      if model.isOut { returned = nil }
      throw error
    }
  }

  /// Returns the caller's memory if it was used before, else none.
  private func bindable(_ outputs: OutputMemory) -> OutputMemory {
    guard !outputs.isEmpty else { return outputs }
    return seen.withLock { seen in
      if seen.contains(outputs.identity) { return outputs }
      seen = Array((seen + [outputs.identity]).suffix(Self.seenLimit))
      return OutputMemory()
    }
  }
}
