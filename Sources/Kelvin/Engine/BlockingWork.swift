import Dispatch
import FoundationEssentials
import Synchronization

/// Threads for work that blocks, so that Swift's own never do.
enum BlockingWork {
  private static let queue = DispatchQueue(label: "kelvin.blocking", attributes: .concurrent)

  static func run<Result: Sendable>(_ body: @escaping @Sendable () throws(ModelError) -> Result)
    async throws(ModelError) -> Result
  {
    let outcome = await withCheckedContinuation {
      (continuation: CheckedContinuation<Swift.Result<Result, ModelError>, Never>) in
      queue.async { continuation.resume(returning: Swift.Result { () throws(ModelError) -> Result in try body() }) }
    }
    return try outcome.get()
  }
}

/// Tells work on another thread that the task that waits for it was cancelled.
final class CancellationFlag: Sendable {
  private let flag = Mutex(false)
  var isSet: Bool { flag.withLock { $0 } }

  func following<Result: Sendable>(
    _ body: @Sendable () async throws(ModelError) -> Result
  ) async throws(ModelError) -> Result {
    do {
      return try await withTaskCancellationHandler {
        try await body()
      } onCancel: {
        flag.withLock { $0 = true }
      }
    } catch { throw ModelError(error) }
  }
}

/// Every core this process may use.
package let defaultThreadCount = max(1, ProcessInfo.processInfo.activeProcessorCount)
