internal import Dispatch
internal import Synchronization

/// A lock that is held while a driver is called. Who waits for one that a stuck call holds is told what took the device
/// out.
package final class DeviceLock<State: Sendable>: Sendable {
  private let turn = DispatchSemaphore(value: 0)
  /// Touched only by whose turn it is.
  private let state: Mutex<State>
  /// Seconds between two looks at the device.
  private static var interval: Double { 0.05 }

  package init(_ state: State) {
    self.state = Mutex(state)
    turn.signal()
  }

  /// Not to be nested.
  ///
  /// - Throws: what took the device out, before or while the caller waits; what `body` throws.
  package func withLock<Result>(
    _ health: DeviceHealth, _ body: (inout State) throws(DeviceError) -> Result
  ) throws(DeviceError) -> Result {
    while turn.wait(timeout: .now() + Self.interval) == .timedOut {
      DriverThread.beat()
      try health.check()
    }
    defer { turn.signal() }
    // Whoever had the turn may have lost the device.
    try health.check()
    return try state.withLock { (state: inout State) throws(DeviceError) -> Result in try body(&state) }
  }
}
