// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CKelvin
import Dispatch
import Synchronization

/// Cancels calls from another thread.
final class CancellationHandle: HandleValue {
  static let noun = "a cancellation"

  private struct State {
    var isCancelled = false
    var next = 0
    var tasks: [Int: @Sendable () -> Void] = [:]
  }

  private let state = Mutex(State())

  var isCancelled: Bool { state.withLock(\.isCancelled) }

  func cancel() {
    let tasks = state.withLock { state in
      state.isCancelled = true
      return state.tasks.values.map(\.self)
    }
    for cancel in tasks { cancel() }
  }

  /// Registers a closure that is called on cancellation, or at once if already cancelled, until the returned number is
  /// removed.
  func add(_ cancel: @escaping @Sendable () -> Void) -> Int {
    let (number, isCancelled) = state.withLock { state in
      state.next += 1
      state.tasks[state.next] = cancel
      return (state.next, state.isCancelled)
    }
    if isCancelled { cancel() }
    return number
  }

  func remove(_ number: Int) { state.withLock { _ = $0.tasks.removeValue(forKey: number) } }
}

/// Runs asynchronous work and blocks the calling thread until it ends.
func waiting<Result: Sendable>(
  _ cancellation: CancellationHandle?, _ work: @escaping @Sendable () async throws -> Result
) throws -> Result {
  if cancellation?.isCancelled == true { throw CancellationError() }
  let finished = DispatchSemaphore(value: 0)
  let outcome = Outcome<Result>()
  let task = Task.detached {
    do { outcome.set(.success(try await work())) } catch { outcome.set(.failure(error)) }
    finished.signal()
  }
  let number = cancellation?.add { task.cancel() }
  finished.wait()
  if let number { cancellation?.remove(number) }
  return try outcome.get()
}

/// The result of asynchronous work, once it has ended.
private final class Outcome<Value: Sendable>: Sendable {
  private let result = Mutex<Result<Value, any Error>?>(nil)

  func set(_ value: Result<Value, any Error>) { result.withLock { $0 = value } }

  func get() throws -> Value {
    guard let result = result.withLock(\.self) else { throw CancellationError() }
    return try result.get()
  }
}

@c @implementation
public func kelvin_cancellation_new() -> OpaquePointer? { try? Handles.add(CancellationHandle()) }

@c @implementation
public func kelvin_cancellation_cancel(_ cancellation: OpaquePointer?, _ error: ErrorText?) -> kelvin_code {
  answer(error) { try Handles.find(cancellation, as: CancellationHandle.self).cancel() }
}

@c @implementation
public func kelvin_cancellation_release(_ cancellation: OpaquePointer?) {
  Handles.release(cancellation, as: CancellationHandle.self)
}
