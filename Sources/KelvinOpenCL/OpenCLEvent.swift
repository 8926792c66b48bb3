internal import CKelvinDrivers
internal import KelvinDevices
internal import Synchronization

/// The end of an invocation's latest submission.
final class OpenCLEvent: Event, @unchecked Sendable {
  let device: OpenCLDevice
  private struct Handle: @unchecked Sendable { var event: cl_event? }
  private let handle = Mutex(Handle())

  private let watchdog: Watchdog

  init(_ device: OpenCLDevice, _ watchdog: Watchdog) {
    self.device = device
    self.watchdog = watchdog
  }

  deinit {
    guard device.health.mayFree else { return }
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
    guard let event = held.event else { return }
    defer { if device.health.mayFree { _ = functions.clReleaseEvent(event) } }
    let began = ContinuousClock.now
    try device.wait(for: event)
    device.health.allow(watchdog.limit(took: ContinuousClock.now - began))
  }
}
