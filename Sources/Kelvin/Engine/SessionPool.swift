import Dispatch
import FoundationEssentials
import KelvinRuntime
import Synchronization

/// The sessions of one compiled model: a prediction borrows one, so predictions may run at the same time.
final class SessionPool: Sendable {
  /// A session that is in the pool has no owner and may be handed to any thread.
  private struct Idle: @unchecked Sendable {
    let session: Session
  }

  let model: CompiledModel
  private let idle = Mutex<[Idle]>([])
  private static let limit = 16

  init(_ model: CompiledModel) { self.model = model }

  func withSession<Result>(_ body: (Session) throws -> Result) throws -> Result {
    let session = try idle.withLock { $0.popLast() }?.session ?? model.makeSession()
    // A session whose run failed is not used again.
    let result = try body(session)
    let returned = Idle(session: session)
    idle.withLock { if $0.count < Self.limit { $0.append(returned) } }
    return result
  }
}

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

/// Every core this process may use.
package let defaultThreadCount = max(1, ProcessInfo.processInfo.activeProcessorCount)
