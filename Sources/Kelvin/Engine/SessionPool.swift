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
