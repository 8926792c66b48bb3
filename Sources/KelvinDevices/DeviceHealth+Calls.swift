internal import Dispatch
internal import KelvinBasics
import Synchronization

/// The time limits of driver calls by kind.
package enum DriverCallKind: Hashable, Sendable {
  /// A call limited by the time of a submission with a small reserve, and of all unfinished earlier submissions. A
  /// driver may wait for these, and their end is noticed first.
  case short
  /// A call that may open a driver or compile programs, which many drivers do at a program's first run.
  case compiling

  /// The limit as a multiple of a submission's limit.
  var factor: Double {
    switch self {
    case .short: 1.5
    case .compiling: 12
    }
  }
}

extension DeviceHealth {
  /// Returns the seconds that a driver call may take now. The limit increases by `patience` for each pending
  /// submission except one, since the call may have to wait for them. While another thread compiles, the limit of a
  /// compilation applies, since many drivers serialize compilation.
  package func limit(_ kind: DriverCallKind) -> Double {
    let more = max(0, outstanding - 1)
    let compiles = kind == .compiling || compilations.load(ordering: .relaxed) > 0
    let own = compiles ? preparation * DriverCallKind.compiling.factor : patience * kind.factor
    return own + patience * Double(more)
  }

  /// Runs code that calls the device's driver, on a `DriverThread`.
  ///
  /// - Parameters:
  ///   - place: the operation, as errors name it.
  ///   - body: must not retain memory that its caller reuses, since a hung call retains it for ever.
  /// - Throws: `.hung` if a driver call does not return in time, which marks the device as failed; the errors of
  ///   `body`.
  package func guarded<Result>(
    _ device: String, _ place: String, _ kind: DriverCallKind = .short,
    _ body: @escaping () throws(DeviceError) -> Result
  ) throws(DeviceError) -> Result {
    let section = DriverThread.Section(health: self, device: device, place: place, kind: kind)
    if let thread = DriverThread.current { return try thread.within(section, body) }
    return try DriverThread.perform { () throws(DeviceError) -> Result in
      guard let thread = DriverThread.current else { return try body() }
      return try thread.within(section, body)
    }
  }

  /// Runs `count` pieces of work that call the device's driver in parallel, each on a `DriverThread`.
  ///
  /// - Parameter body: as for `guarded`, called with 0 to `count` - 1. The driver must allow concurrent calls.
  /// - Throws: the error of the lowest index. All work has ended then, except hung calls.
  package func guardedEach(
    _ device: String, _ place: String, _ kind: DriverCallKind, _ count: Int,
    _ body: @escaping @Sendable (Int) throws(DeviceError) -> Void
  ) throws(DeviceError) {
    try DriverThread.pausing { () throws(DeviceError) in
      let failures = Mutex<[Int: DeviceError]>([:])
      DispatchQueue.concurrentPerform(iterations: count) { index in
        do throws(DeviceError) {
          try guarded(device, place, kind) { () throws(DeviceError) in try body(index) }
        } catch { failures.withLock { [error] in $0[index] = error } }
      }
      if let first = failures.withLock({ $0.min { $0.key < $1.key } }) { throw first.value }
    }
  }

  /// Runs code that calls the device's driver concurrently with other code of the caller.
  ///
  /// - Parameters:
  ///   - place, body: as for `guarded`. The driver must allow calls concurrent with those of `other`.
  /// - Throws: the error of `body`, else the error of `other`. Both have ended then, except hung calls.
  package func beside<First, Second>(
    _ device: String, _ place: String, _ kind: DriverCallKind,
    _ body: @escaping @Sendable () throws(DeviceError) -> First,
    while other: () throws(DeviceError) -> Second
  ) throws(DeviceError) -> (First, Second) {
    let outcome = DriverThread.Outcome<First>()
    let group = DispatchGroup()
    DispatchQueue.global().async(group: group) { [self] in
      outcome.set(Result { () throws(DeviceError) in try guarded(device, place, kind, body) })
    }
    let own = Result { () throws(DeviceError) -> Second in try other() }
    try DriverThread.pausing { () throws(DeviceError) in group.wait() }
    return (try outcome.get(), try own.get())
  }

  /// Releases resources of the driver, unless the device has failed and may still be using them.
  package func freeing(_ device: String, _ release: @escaping () -> Void) {
    guard mayFree else { return }
    try? guarded(device, "releasing resources") { () throws(DeviceError) in release() }
  }
}

extension DeviceError {
  static func stuck(_ device: String, _ place: String, seconds: Double) -> DeviceError {
    DeviceError(
      .hung, device: device, place: place,
      reason: "a call of the driver did not return within \(seconds.inSecondsText); --device-timeout allows more")
  }
}
