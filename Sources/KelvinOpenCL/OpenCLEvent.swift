internal import CKelvinSupport
internal import KelvinDevices
internal import Synchronization

/// A driver event, released with its last owner.
final class DriverEvent: @unchecked Sendable {
  let handle: cl_event
  private let device: OpenCLDevice

  /// - Parameter handle: the caller's reference, which this object takes over.
  init(_ handle: cl_event, _ device: OpenCLDevice) {
    self.handle = handle
    self.device = device
  }

  deinit {
    if device.health.mayFree { device.turns.retire(handle) }
  }
}

/// The completion of an invocation's latest submission.
final class OpenCLEvent: Event, @unchecked Sendable {
  let device: OpenCLDevice
  private let executable: OpenCLExecutable
  private let held = Mutex<Held?>(nil)

  private struct Held {
    let event: DriverEvent
    let submission: DeviceHealth.Submission
  }

  init(_ executable: OpenCLExecutable) {
    device = executable.device
    self.executable = executable
  }

  /// Replaces the event.
  func hold(_ event: DriverEvent) {
    let mayCompile = !executable.hasRun.load(ordering: .relaxed)
    let next = Held(event: event, submission: device.health.submitted(mayCompile: mayCompile))
    let before = held.withLock { held in
      defer { held = next }
      return held
    }
    // The previous event is released after the lock.
    withExtendedLifetime(before) {}
  }

  func wait() throws(DeviceError) {
    guard let held = held.withLock({ $0 }) else { return }
    try device.health.guarded(device.info.id, "waiting for the queue") { [device, executable] () throws(DeviceError) in
      let seconds = try device.wait(for: held.event, of: held.submission)
      device.health.allow(executable.watchdog.limit(expecting: seconds))
    }
    executable.hasRun.store(true, ordering: .relaxed)
  }
}
