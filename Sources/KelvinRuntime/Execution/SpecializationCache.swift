/// Values made at their first use, of which the most recently used keys are kept: specializations by input shapes.
///
/// Concurrent first uses of one key make the value once; the other callers wait for it. Beyond the limit the least
/// recently used value is evicted. Callers that still use it keep it alive.
package final class SpecializationCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private final class Entry {
    /// Nil while one caller makes the value and others wait for it.
    var outcome: Result<Value, any Error>?
    var lastUse = 0
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    var uses = 0

    /// Returns the outcome of an entry, if it is known, and notes the use.
    mutating func use(_ entry: Entry) -> Result<Value, any Error>? {
      uses += 1
      entry.lastUse = uses
      return entry.outcome
    }
  }

  package let limit: Int
  private let state = ConditionLock(State())
  private let didEvict: @Sendable (Value) -> Void

  /// - Parameters:
  ///   - limit: the number of values that are kept, at least 1.
  ///   - didEvict: receives each value that is no longer kept.
  package init(limit: Int, didEvict: @escaping @Sendable (Value) -> Void = { _ in }) {
    self.limit = max(1, limit)
    self.didEvict = didEvict
  }

  /// The number of values that are kept now.
  package var count: Int { state.withLock { $0.entries.values.count { $0.outcome != nil } } }

  /// The value of a key if it is kept now.
  package subscript(key: Key) -> Value? {
    state.withLock { state in
      try? state.entries[key].flatMap { state.use($0) }?.get()
    }
  }

  /// Returns the value of a key, made by `make` at its first use.
  ///
  /// - Throws: the error of `make`, to every caller that waits; `cancelled` only to the callers that were cancelled.
  package func value(
    for key: Key, _ cancellation: Cancellation? = nil, make: () throws -> Value
  ) throws -> Value {
    while true {
      let (entry, isNew, known) = state.withLock { state -> (Entry, Bool, Result<Value, any Error>?) in
        if let entry = state.entries[key] { return (entry, false, state.use(entry)) }
        let entry = Entry()
        state.entries[key] = entry
        return (entry, true, nil)
      }
      if isNew { return try fill(entry, key, make) }
      switch try known ?? state.wait(cancellation, { $0.use(entry) }) {
      case .success(let value): return value
      case .failure(RuntimeError.cancelled): continue
      case .failure(let error): throw error
      }
    }
  }

  /// Stops keeping values that must not be used again.
  package func drop(where isUnusable: (Value) -> Bool) {
    let dropped = state.withLock { state -> [Value] in
      state.entries.compactMap { key, entry in
        guard let value = try? entry.outcome?.get(), isUnusable(value) else { return nil }
        state.entries[key] = nil
        return value
      }
    }
    dropped.forEach(didEvict)
  }

  private func fill(_ entry: Entry, _ key: Key, _ make: () throws -> Value) throws -> Value {
    let outcome = Result { try make() }
    // Releasing a value may take long, so it happens after the lock is released.
    let dropped = state.withLock { state -> [Value] in
      entry.outcome = outcome
      _ = state.use(entry)
      if case .failure = outcome { state.entries[key] = nil }
      return evict(&state)
    }
    dropped.forEach(didEvict)
    return try outcome.get()
  }

  private func evict(_ state: inout State) -> [Value] {
    let made = state.entries.filter { $0.value.outcome != nil }.sorted { $0.value.lastUse < $1.value.lastUse }
    return made.prefix(max(0, made.count - limit)).compactMap { key, entry in
      state.entries[key] = nil
      return try? entry.outcome?.get()
    }
  }
}
