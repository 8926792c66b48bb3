/// Values made at their first use, of which the most recently used keys are kept: specializations by input shapes.
///
/// Concurrent first uses of one key make the value once; the other callers wait for it. Beyond the limit the least
/// recently used value is evicted. Callers that still use it keep it alive.
package final class SpecializationCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// A value being made by one caller, with others waiting for it.
  private final class Flight {
    var outcome: Result<Value, any Error>?
  }

  private enum Entry {
    case making(Flight)
    case made(Value, lastUse: Int)
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    var uses = 0

    mutating func tick() -> Int {
      uses += 1
      return uses
    }
  }

  private enum Lookup {
    case found(Value)
    case follow(Flight)
    case lead(Flight)
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
  package var count: Int {
    state.withLock { $0.entries.values.count { if case .made = $0 { true } else { false } } }
  }

  /// The value of a key if it is kept now.
  package subscript(key: Key) -> Value? {
    state.withLock { state in
      guard case .made(let value, _) = state.entries[key] else { return nil }
      state.entries[key] = .made(value, lastUse: state.tick())
      return value
    }
  }

  /// Returns the value of a key, made by `make` at its first use.
  ///
  /// - Throws: the error of `make`, to every caller that waits; `cancelled` only to the callers that were cancelled.
  package func value(
    for key: Key, _ cancellation: Cancellation? = nil, make: () throws -> Value
  ) throws -> Value {
    while true {
      switch state.withLock({ look(up: key, &$0) }) {
      case .found(let value): return value
      case .lead(let flight): return try lead(flight, key, make)
      case .follow(let flight):
        switch try state.wait(cancellation, { _ in flight.outcome }) {
        case .success(let value): return value
        case .failure(RuntimeError.cancelled): continue
        case .failure(let error): throw error
        }
      }
    }
  }

  private func look(up key: Key, _ state: inout State) -> Lookup {
    switch state.entries[key] {
    case .made(let value, _):
      state.entries[key] = .made(value, lastUse: state.tick())
      return .found(value)
    case .making(let flight): return .follow(flight)
    case nil:
      let flight = Flight()
      state.entries[key] = .making(flight)
      return .lead(flight)
    }
  }

  private func lead(_ flight: Flight, _ key: Key, _ make: () throws -> Value) throws -> Value {
    let outcome = Result { try make() }
    // Releasing a value may take long, so it happens after the lock is released.
    let dropped = state.withLock { state -> [Value] in
      flight.outcome = outcome
      switch outcome {
      case .success(let value): state.entries[key] = .made(value, lastUse: state.tick())
      case .failure: state.entries[key] = nil
      }
      return evict(&state)
    }
    dropped.forEach(didEvict)
    return try outcome.get()
  }

  private func evict(_ state: inout State) -> [Value] {
    let made = state.entries.compactMap { key, entry -> (key: Key, value: Value, lastUse: Int)? in
      if case .made(let value, let lastUse) = entry { (key, value, lastUse) } else { nil }
    }
    let oldest = made.sorted { $0.lastUse < $1.lastUse }.prefix(max(0, made.count - limit))
    for entry in oldest { state.entries[entry.key] = nil }
    return oldest.map(\.value)
  }
}
