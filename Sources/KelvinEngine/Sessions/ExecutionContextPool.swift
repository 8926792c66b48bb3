import KelvinRuntime

/// The execution contexts of one graph, one for each concurrent prediction. All specializations of the graph use them.
final class ExecutionContextPool: Sendable {
  /// The addresses of callers' memory that recent inputs were copied from, and that recent outputs were copied to.
  private struct Copies {
    var inputs: [[Int: Int]] = []
    var outputs: [[Int: Int]] = []
  }

  /// By specialization in use.
  private typealias Seen = [ObjectIdentifier: Copies]

  private struct State {
    /// The idle contexts, the most recently used last.
    var idle: [ExecutionContext] = []
    var acquired = 0
    var seen: Seen = [:]
  }

  private let state = ConditionLock(State())

  /// The maximum number of concurrent predictions; further ones wait.
  static let limit = min(max(4, defaultThreadCount), 16)
  /// The number of callers' memories that are remembered for each specialization.
  private static let seenLimit = 4

  /// Adds a specialization: its sessions are kept for further predictions.
  func add(_ model: CompiledModel) { state.withLock { $0.seen[ObjectIdentifier(model)] = Copies() } }

  /// Removes a specialization. Idle contexts drop its sessions, and memory that only they needed. Acquired contexts do
  /// so when they are acquired again.
  func remove(_ model: CompiledModel) {
    let (contexts, used) = state.withLock { state in
      state.seen[ObjectIdentifier(model)] = nil
      defer { state.idle = [] }
      state.acquired += state.idle.count
      return (state.idle, state.seen)
    }
    // Releasing memory may take long, so it happens outside the lock.
    for context in contexts { context.letGo { used[ObjectIdentifier($0)] != nil } }
    state.withLock { state in
      state.acquired -= contexts.count
      state.idle = contexts + state.idle
    }
  }

  /// Calls `body` with a session of a specialization. Waits while all contexts are in use. A caller holds at most one
  /// session of a graph at a time.
  ///
  /// - Parameter memory: the caller's memory for inputs and outputs. From its second use on, a session is bound to it.
  ///   `Session.callerOwnedInputs` and `Session.callerOwnedOutputs` say which values need no copy.
  /// - Throws: `cancelled` while waiting for a context; `device`; the errors of `body`.
  func withSession<Result>(
    of model: CompiledModel, _ memory: CallerMemory, _ cancellation: Cancellation?,
    _ body: (Session) throws -> Result
  ) throws -> Result {
    let memory = CallerMemory(
      inputs: model.readsInputsInPlace ? bindable(memory.inputs, \.inputs, model) : [:],
      outputs: bindable(memory.outputs, \.outputs, model))
    let (context, used) = try state.wait(cancellation) { state -> (ExecutionContext, Seen)? in
      guard state.acquired < Self.limit else { return nil }
      state.acquired += 1
      let best = state.idle.lastIndex { $0.has(model, memory) }
      let context = best.map { state.idle.remove(at: $0) } ?? state.idle.popLast() ?? ExecutionContext()
      return (context, state.seen)
    }
    var returned: ExecutionContext? = context
    defer { release(returned, model) }
    var session: Session?
    do {
      context.letGo(needing: model.sessionByteCount) { used[ObjectIdentifier($0)] != nil }
      let made = try context.session(of: model, memory)
      session = made
      return try body(made)
    } catch {
      var hasFailed = model.isOut
      if case RuntimeError.device = error { hasFailed = true }
      if hasFailed, let session { context.drop { $0 === session } }
      // The memory can be used again unless a device has failed, which may still be accessing it.
      if model.isOut { returned = nil }
      throw error
    }
  }

  /// - Parameter context: the acquired context; nil if it must not be used again.
  private func release(_ context: ExecutionContext?, _ model: CompiledModel) {
    let isUsed = state.withLock { state in
      state.acquired -= 1
      if let context { state.idle.append(context) }
      return state.seen[ObjectIdentifier(model)] != nil
    }
    if !isUsed { remove(model) }
  }

  /// Returns the caller's memory if it was used before, else none. A session is worth binding to memory that comes
  /// again.
  private func bindable(
    _ buffers: [Int: CallerBuffer], _ list: WritableKeyPath<Copies, [[Int: Int]]>, _ model: CompiledModel
  ) -> [Int: CallerBuffer] {
    guard !buffers.isEmpty else { return buffers }
    let addresses = buffers.mapValues { Int(bitPattern: $0.hostPointer) }
    return state.withLock { state in
      guard var seen = state.seen[ObjectIdentifier(model)] else { return [:] }
      if seen[keyPath: list].contains(addresses) { return buffers }
      seen[keyPath: list] = Array((seen[keyPath: list] + [addresses]).suffix(Self.seenLimit))
      state.seen[ObjectIdentifier(model)] = seen
      return [:]
    }
  }
}
