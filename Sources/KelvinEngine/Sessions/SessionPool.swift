import KelvinDevices
import KelvinRuntime
import Synchronization

/// The sessions of one compiled form: a prediction borrows one, so predictions may run at the same time.
final class SessionPool: Sendable {
  let model: CompiledModel
  private let contexts: ExecutionContextPool
  /// Callers' memory that was written lately by copying; a session is bound to it when it comes again.
  private let seen = Mutex<[OutputMemory.Identity]>([])

  private static let seenLimit = 4

  /// - Parameter contexts: those of all compiled forms of the graph.
  init(_ model: CompiledModel, _ contexts: ExecutionContextPool) {
    self.model = model
    self.contexts = contexts
  }

  deinit { contexts.letGo() }

  /// Lends a session. A caller holds at most one of a graph at a time.
  ///
  /// - Parameter outputs: where the caller wants outputs written. From its second use on a session is bound to it, and
  ///   `Session.callerOwnedOutputs` says which outputs need no copy.
  /// - Throws: `cancelled` while waiting for a lane; `device`; what `body` throws.
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
      // The memory is sound unless a device is out, which may still be at work on it, whatever the run ended with.
      if model.isOut { returned = nil }
      throw error
    }
  }

  /// The caller's memory where it has been seen before, else none.
  private func bindable(_ outputs: OutputMemory) -> OutputMemory {
    guard !outputs.isEmpty else { return outputs }
    return seen.withLock { seen in
      if seen.contains(outputs.identity) { return outputs }
      seen = Array((seen + [outputs.identity]).suffix(Self.seenLimit))
      return OutputMemory()
    }
  }
}
