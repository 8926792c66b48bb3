import Dispatch
import KelvinBasics
import Synchronization

/// A request to cancel work in progress, shared by the caller and the work. Once set, it stays set.
package final class Cancellation: Sendable {
  private struct Observers {
    var handlers: [Int: @Sendable () -> Void] = [:]
    var next = 0
  }

  private let flag = Atomic(false)
  private let observers = Mutex(Observers())
  /// The budget that also sets it when it is spent.
  private let budget: WorkBudget?

  package init() { budget = nil }

  private init(within budget: WorkBudget) { self.budget = budget }

  package var isCancelled: Bool { flag.load(ordering: .acquiring) }

  package func cancel() {
    // Handlers run under the lock, so that none runs after `observing` has returned.
    observers.withLock {
      flag.store(true, ordering: .releasing)
      for handler in $0.handlers.values { handler() }
      $0.handlers = [:]
    }
  }

  /// Runs `body` with a handler that `cancel` calls; the handler is called at once if already cancelled.
  ///
  /// - Parameter handler: must not block. It must not take a lock under which other code uses more of this object
  ///   than `isCancelled`.
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

  /// Runs `body` with a cancellation that is also set when the current work budget is spent.
  ///
  /// - Parameters:
  ///   - outer: the caller's cancellation; the budget does not set it.
  ///   - body: receives `outer` itself if there is no budget, or if the budget already sets it.
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

  /// The seconds between two checks of a budget.
  private static let watchInterval = 0.01
}
