import Synchronization

/// Somebody's wish that work in progress end. Shared by the one who may wish it and the work; set once, for good.
package final class Cancellation: Sendable {
  private struct Observers {
    var handlers: [Int: @Sendable () -> Void] = [:]
    var next = 0
  }

  private let flag = Atomic(false)
  private let observers = Mutex(Observers())

  package init() {}

  package var isCancelled: Bool { flag.load(ordering: .acquiring) }

  package func cancel() {
    // Under the lock, so that no handler runs after `observing` has returned.
    observers.withLock {
      flag.store(true, ordering: .releasing)
      for handler in $0.handlers.values { handler() }
      $0.handlers = [:]
    }
  }

  /// Does some work with a handler that cancelling calls, at once where it has been cancelled already.
  ///
  /// - Parameter handler: must not block, nor wait for a lock under which this object is asked for more than
  ///   `isCancelled`.
  package func observing<Result, Failure: Error>(
    _ handler: @escaping @Sendable () -> Void, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let key = observers.withLock { observers in
      observers.next += 1
      if isCancelled { handler() } else { observers.handlers[observers.next] = handler }
      return observers.next
    }
    defer { observers.withLock { _ = $0.handlers.removeValue(forKey: key) } }
    return try body()
  }

  /// - Throws: `cancelled`.
  package func check() throws(RuntimeError) {
    if isCancelled { throw .cancelled }
  }
}
