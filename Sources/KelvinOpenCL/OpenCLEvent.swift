internal import CKelvinDrivers
internal import KelvinDevices
internal import Synchronization

/// The end of an invocation's latest submission.
final class OpenCLEvent: Event, @unchecked Sendable {
  let device: OpenCLDevice
  private struct Handle: @unchecked Sendable { var event: cl_event? }
  private let handle = Mutex(Handle())

  init(_ device: OpenCLDevice) { self.device = device }

  deinit {
    handle.withLock { handle in
      if let event = handle.event { _ = device.library.functions.clReleaseEvent(event) }
    }
  }

  /// Takes the place of the event held before.
  func hold(_ event: cl_event, retains: Bool) {
    let functions = device.library.functions
    if retains { _ = functions.clRetainEvent(event) }
    let old = handle.withLock { handle in
      defer { handle.event = event }
      return Handle(event: handle.event)
    }
    if let old = old.event { _ = functions.clReleaseEvent(old) }
  }

  func wait() throws(DeviceError) {
    let functions = device.library.functions
    let held = handle.withLock { handle in
      if let event = handle.event { _ = functions.clRetainEvent(event) }
      return Handle(event: handle.event)
    }
    guard var event = held.event as cl_event? else { return }
    defer { _ = functions.clReleaseEvent(event) }
    var list: cl_event? = event
    let status = functions.clWaitForEvents(1, &list)
    event = list ?? event
    guard status == CL_SUCCESS else {
      throw DeviceError(device: device.info.id, place: "waiting for the queue", call: "clWaitForEvents", status: status)
    }
  }
}
