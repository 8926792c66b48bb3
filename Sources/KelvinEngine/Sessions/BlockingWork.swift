import Dispatch
import KelvinBasics
package import KelvinFeatures
package import KelvinRuntime
import Synchronization

/// Threads for blocking work, so that threads of Swift concurrency never block. The process has one bounded set;
/// further work waits in a queue.
///
/// Work may wait for work that has begun, but never for queued work, so the bound cannot cause a deadlock.
package enum BlockingWork {
  private typealias Job = @Sendable () -> Void

  private struct State {
    /// The queued jobs; entries before `first` have been taken.
    var queue: [Job?] = []
    var first = 0
    var threads = 0

    mutating func next() -> Job? {
      guard first < queue.count, let job = queue[first] else {
        threads -= 1
        queue = []
        first = 0
        return nil
      }
      queue[first] = nil
      first += 1
      // Removes taken entries once they are more than half of the queue.
      if first > 64, first * 2 > queue.count {
        queue.removeFirst(first)
        first = 0
      }
      return job
    }
  }

  /// The maximum number of threads: enough to keep every core busy while others wait for devices.
  static let limit = min(max(8, 2 * defaultThreadCount), 64)

  private static let queue = DispatchQueue(label: "kelvin.blocking", attributes: .concurrent)
  private static let state = Mutex(State())

  /// Runs work on one of the threads.
  ///
  /// - Parameter body: receives a cancellation that the task's cancellation sets. It is not called if the task is
  ///   cancelled before a thread is free.
  /// - Throws: the errors of `body`; `predictionCancelled` if it was not called.
  package static func run<Result: Sendable>(
    _ body: @escaping @Sendable (Cancellation) throws(ModelError) -> Result
  ) async throws(ModelError) -> Result {
    let cancellation = Cancellation()
    let once = Once<Swift.Result<Result, ModelError>>()
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        once.wait(continuation)
        start {
          guard once.begin() else { return }
          once.finish(.init { () throws(ModelError) -> Result in try body(cancellation) })
        }
      }
    } onCancel: {
      cancellation.cancel()
      once.giveUp(.failure(ModelError(RuntimeError.cancelled)))
    }
    return try outcome.get()
  }

  /// Runs work on one of the threads, as soon as one is free.
  package static func start(_ job: @escaping @Sendable () -> Void) {
    let budget = WorkBudget.current
    let startsThread = state.withLock { state in
      state.queue.append { WorkBudget.governing(budget, job) }
      guard state.threads < limit else { return false }
      state.threads += 1
      return true
    }
    guard startsThread else { return }
    queue.async {
      while let job = state.withLock({ $0.next() }) { job() }
    }
  }
}

/// The number of processors that this process may use.
package let defaultThreadCount = MachineProcessors().usable
