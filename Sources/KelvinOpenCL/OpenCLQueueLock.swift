internal import CKelvinSupport
internal import KelvinDevices
internal import Synchronization

/// Who may tell a queue what to do: one thread at a time.
///
/// OpenCL promises that its calls may be made from any thread. PoCL's `basic` devices, which compute inside the call that
/// enqueues, deadlock where one thread enqueues while another does, or releases an event of the same queue: so events
/// that are over are released by the next thread whose turn it is. A thread that has waited for its event need not wait
/// for its turn then, which would undo all that several inferences in flight gain.
final class OpenCLQueueLock: Sendable {
  private struct Handle: @unchecked Sendable { let event: cl_event }

  private let turn = DeviceLock(())
  private let over = Mutex<[Handle]>([])
  private let library: OpenCLLibrary

  init(_ library: OpenCLLibrary) { self.library = library }

  deinit { release() }

  /// Does something when it is the calling thread's turn.
  func take<Result>(
    _ health: DeviceHealth, _ body: () throws(DeviceError) -> Result
  ) throws(DeviceError) -> Result {
    try turn.withLock(health) { (_) throws(DeviceError) in
      release()
      return try body()
    }
  }

  /// Gives a reference to an event away.
  func retire(_ event: cl_event) { over.withLock { $0.append(Handle(event: event)) } }

  /// Gives events that are over back to the driver.
  func release() {
    let events = over.withLock { over in
      defer { over = [] }
      return over
    }
    for handle in events { _ = library.functions.clReleaseEvent(handle.event) }
  }
}
