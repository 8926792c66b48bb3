import Glibc

/// The clock of measurements: the machine's, or a test's.
package protocol MeasurementClock: Sendable {
  /// Returns seconds; never decreases.
  func now() -> Double
  /// Returns at `time` or slightly later; immediately if it has passed.
  func sleep(until time: Double)
}

/// CLOCK_MONOTONIC.
package struct SystemClock: MeasurementClock {
  package init() {}

  package func now() -> Double { MonotonicClock.now() }

  package func sleep(until time: Double) {
    guard time.isFinite, time > 0 else { return }
    let whole = min(time, 1e15).rounded(.down)
    var deadline = timespec(tv_sec: Int(whole), tv_nsec: min(Int((time - whole) * 1e9), 999_999_999))
    while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nil) == EINTR {}
  }
}

extension MeasurementClock {
  /// Returns the seconds that `body` took.
  package func time<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) -> Double {
    let start = now()
    try body()
    return now() - start
  }
}
