internal import Dispatch
internal import Synchronization

/// A lock that is held while a driver is called. A thread that waits while a hung call holds the lock receives the
/// device's failure.
package final class DeviceLock<State: Sendable>: Sendable {
  private let turn = DispatchSemaphore(value: 0)
  /// Accessed only by the thread that holds `turn`.
  private let state: Mutex<State>
  /// The seconds between two checks of the device.
  private static var interval: Double { 0.05 }

  package init(_ state: State) {
    self.state = Mutex(state)
    turn.signal()
  }

  /// Runs `body` with the lock held. Must not be nested.
  ///
  /// - Throws: the failure of the device, before or while the caller waits; the errors of `body`.
  package func withLock<Result>(
    _ health: DeviceHealth, _ body: (inout State) throws(DeviceError) -> Result
  ) throws(DeviceError) -> Result {
    while turn.wait(timeout: .now() + Self.interval) == .timedOut {
      DriverThread.beat()
      try health.check()
    }
    defer { turn.signal() }
    // The previous holder may have lost the device.
    try health.check()
    return try state.withLock { (state: inout State) throws(DeviceError) -> Result in try body(&state) }
  }
}
