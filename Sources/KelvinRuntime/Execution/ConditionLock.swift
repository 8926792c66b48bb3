import Glibc

/// State protected by a mutex, with a condition variable to wait for changes.
package final class ConditionLock<State>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>
  private var state: State

  package init(_ state: State) {
    self.state = state
    mutex = .allocate(capacity: 1)
    changed = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(changed, nil)
  }

  deinit {
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(mutex)
    changed.deallocate()
    mutex.deallocate()
  }

  /// Reads or changes the state, and wakes all waiting threads.
  package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer {
      pthread_cond_broadcast(changed)
      pthread_mutex_unlock(mutex)
    }
    return body(&state)
  }

  /// Blocks the calling thread until `attempt` returns a value. It is called now and after every change.
  ///
  /// - Throws: `cancelled`.
  package func wait<Result>(
    _ cancellation: Cancellation? = nil, _ attempt: (inout State) -> Result?
  ) throws(RuntimeError) -> Result {
    guard let cancellation else { return try block(nil, attempt) }
    return try cancellation.observing({ [self] in withLock { _ in } }) { () throws(RuntimeError) -> Result in
      try block(cancellation, attempt)
    }
  }

  private func block<Result>(
    _ cancellation: Cancellation?, _ attempt: (inout State) -> Result?
  ) throws(RuntimeError) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      try cancellation?.check()
      if let result = attempt(&state) { return result }
      pthread_cond_wait(changed, mutex)
    }
  }
}
