import Dispatch
import KelvinBasics
import Synchronization

/// Somebody's wish that work in progress end. Shared by the one who may wish it and the work; set once, for good.
package final class Cancellation: Sendable {
  private struct Observers {
    var handlers: [Int: @Sendable () -> Void] = [:]
    var next = 0
  }

  private let flag = Atomic(false)
  private let observers = Mutex(Observers())
  /// What it is set by as well, once that is spent.
  private let budget: WorkBudget?

  package init() { budget = nil }

  private init(within budget: WorkBudget) { self.budget = budget }

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

  /// Does some work with a cancellation that is also set when the budget of the work is spent.
  ///
  /// - Parameters:
  ///   - outer: whoever else may wish the work to end; it is not set by the budget.
  ///   - body: given `outer` itself where nothing is limited, or that is set by the budget already.
  package static func bounded<Result, Failure: Error>(
    _ outer: Cancellation?, _ body: (Cancellation?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let budget = WorkBudget.current, outer?.budget !== budget else { return try body(outer) }
    budget.enter(.predicting)
    let inner = Cancellation(within: budget)
    let timer = DispatchSource.makeTimerSource(queue: .global(qos: .userInitiated))
    timer.schedule(deadline: .now() + watchInterval, repeating: watchInterval)
    timer.setEventHandler { if budget.measuresSpent { inner.cancel() } }
    timer.resume()
    defer { timer.cancel() }
    if budget.isSpent { inner.cancel() }
    guard let outer else { return try body(inner) }
    return try outer.observing(inner.cancel) { () throws(Failure) in try body(inner) }
  }

  /// Seconds between two looks at a budget.
  private static let watchInterval = 0.01
}
