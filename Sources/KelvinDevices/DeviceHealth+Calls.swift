internal import Dispatch
internal import KelvinBasics
import Synchronization

/// How long a call of a driver may take.
package enum DriverCallKind: Hashable, Sendable {
  /// As long as a submission, and a little more, and as all that the device was given before and has not ended: a driver
  /// may wait for that, and its end is noticed first.
  case short
  /// It may compile programs, which many drivers do at a program's first run, or open a driver.
  case compiling

  /// Of what the device is allowed for a submission.
  var factor: Double {
    switch self {
    case .short: 1.5
    case .compiling: 12
    }
  }
}

extension DeviceHealth {
  /// Seconds that a call of the driver may take now: longer by `patience` for each submission under way but one, which
  /// the call may have to wait for, and as long as a compilation while another thread compiles, which many drivers do
  /// behind a lock.
  package func limit(_ kind: DriverCallKind) -> Double {
    let more = max(0, outstanding - 1)
    let factor = compilations.load(ordering: .relaxed) > 0 ? DriverCallKind.compiling.factor : kind.factor
    return patience * (factor + Double(more))
  }

  /// Does something that calls the device's driver, on a `DriverThread`.
  ///
  /// - Parameters:
  ///   - place: what is done, as errors name it.
  ///   - body: whatever it holds stays for ever where a call is stuck: it holds no memory that its caller will use.
  /// - Throws: `.hung` where a call of the driver does not return in time, which takes the device out; what `body` throws.
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

  /// Does `count` things that call the device's driver, several at a time, each on a `DriverThread`.
  ///
  /// - Parameter body: as that of `guarded`, given 0 to `count` - 1. The driver has to allow the calls beside each other.
  /// - Throws: what the first in order of them threw. All have ended then but those that are stuck.
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

  /// Does something that calls the device's driver beside what the caller itself does meanwhile.
  ///
  /// - Parameters:
  ///   - place, body: as those of `guarded`. The driver has to allow its calls beside those of `other`.
  /// - Throws: what `body` threw, else what `other` did. Both have ended then but what is stuck.
  package func beside<First, Second>(
    _ device: String, _ place: String, _ kind: DriverCallKind, _ body: @escaping @Sendable () throws(DeviceError) -> First,
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

  /// Has the driver take back what it gave, unless the device is out and may still be at work on it.
  package func freeing(_ device: String, _ release: @escaping () -> Void) {
    guard mayFree else { return }
    try? guarded(device, "giving back what was used") { () throws(DeviceError) in release() }
  }
}

extension DeviceError {
  static func stuck(_ device: String, _ place: String, seconds: Double) -> DeviceError {
    DeviceError(
      .hung, device: device, place: place,
      reason: "a call of the driver did not return within \(seconds.inSecondsText); --device-timeout allows more")
  }
}
