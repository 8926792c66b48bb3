import Synchronization

/// Resumes a continuation once: either by some work or, before the work has begun, by cancellation.
package final class Once<Value: Sendable>: Sendable {
  private enum Phase {
    /// Cancelled before there was a continuation.
    case abandoned(Value)
    case idle
    case waiting(CheckedContinuation<Value, Never>)
    case running(CheckedContinuation<Value, Never>)
    case finished
  }

  private let phase = Mutex(Phase.idle)

  package init() {}

  /// Takes the continuation.
  package func wait(_ continuation: CheckedContinuation<Value, Never>) {
    let abandoned = phase.withLock { phase -> Value? in
      if case .abandoned(let value) = phase {
        phase = .finished
        return value
      }
      phase = .waiting(continuation)
      return nil
    }
    if let abandoned { continuation.resume(returning: abandoned) }
  }

  /// Whether the work is still needed; if so, it counts as begun.
  package func begin() -> Bool {
    phase.withLock { phase in
      guard case .waiting(let continuation) = phase else { return false }
      phase = .running(continuation)
      return true
    }
  }

  /// Resumes with the value of the work that has begun.
  package func finish(_ value: Value) {
    let continuation = phase.withLock { phase -> CheckedContinuation<Value, Never>? in
      guard case .running(let continuation) = phase else { return nil }
      phase = .finished
      return continuation
    }
    continuation?.resume(returning: value)
  }

  /// Resumes with a value unless the work has begun.
  package func giveUp(_ value: Value) {
    let continuation = phase.withLock { phase -> CheckedContinuation<Value, Never>? in
      switch phase {
      case .idle: phase = .abandoned(value)
      case .waiting(let continuation):
        phase = .finished
        return continuation
      case .abandoned, .running, .finished: break
      }
      return nil
    }
    continuation?.resume(returning: value)
  }
}
