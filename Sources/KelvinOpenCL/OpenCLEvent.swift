internal import CKelvinSupport
internal import KelvinDevices
internal import Synchronization

/// An event of the driver's, given back when its last owner is gone.
final class DriverEvent: @unchecked Sendable {
  let handle: cl_event
  private let device: OpenCLDevice

  /// - Parameter handle: the caller's reference, which passes to this object.
  init(_ handle: cl_event, _ device: OpenCLDevice) {
    self.handle = handle
    self.device = device
  }

  deinit {
    if device.health.mayFree { device.turns.retire(handle) }
  }
}

/// The end of an invocation's latest submission.
final class OpenCLEvent: Event, @unchecked Sendable {
  let device: OpenCLDevice
  private let watchdog: Watchdog
  private let held = Mutex<Held?>(nil)

  private struct Held {
    let event: DriverEvent
    let submission: DeviceHealth.Submission
  }

  init(_ device: OpenCLDevice, _ watchdog: Watchdog) {
    self.device = device
    self.watchdog = watchdog
  }

  /// Takes the place of the event held before.
  func hold(_ event: DriverEvent) {
    let next = Held(event: event, submission: device.health.submitted())
    let before = held.withLock { held in
      defer { held = next }
      return held
    }
    // Released after the lock is.
    withExtendedLifetime(before) {}
  }

  func wait() throws(DeviceError) {
    guard let held = held.withLock({ $0 }) else { return }
    try device.health.guarded(device.info.id, "waiting for the queue") { [device, watchdog] () throws(DeviceError) in
      let seconds = try device.wait(for: held.event, of: held.submission)
      device.health.allow(watchdog.limit(expecting: seconds))
    }
  }
}
