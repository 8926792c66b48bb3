internal import CKelvinSupport
internal import KelvinDevices
internal import Synchronization

/// A lock that lets one thread at a time use a queue.
///
/// OpenCL allows its calls from any thread. PoCL's `basic` devices compute inside the call that enqueues, and deadlock
/// if another thread then enqueues or releases an event of the same queue. Completed events are therefore released by
/// the next thread that takes the lock. A thread that has waited for its event does not have to take the lock again,
/// which would serialize inferences in flight.
final class OpenCLQueueLock: Sendable {
  private struct Handle: @unchecked Sendable { let event: cl_event }

  private let turn = DeviceLock(())
  private let over = Mutex<[Handle]>([])
  private let library: OpenCLLibrary

  init(_ library: OpenCLLibrary) { self.library = library }

  deinit { release() }

  /// Runs a function when it is the calling thread's turn.
  func take<Result>(
    _ health: DeviceHealth, _ body: () throws(DeviceError) -> Result
  ) throws(DeviceError) -> Result {
    try turn.withLock(health) { (_) throws(DeviceError) in
      release()
      return try body()
    }
  }

  /// Takes over a reference to an event.
  func retire(_ event: cl_event) { over.withLock { $0.append(Handle(event: event)) } }

  /// Releases the completed events.
  func release() {
    let events = over.withLock { over in
      defer { over = [] }
      return over
    }
    for handle in events { _ = library.functions.clReleaseEvent(handle.event) }
  }
}
