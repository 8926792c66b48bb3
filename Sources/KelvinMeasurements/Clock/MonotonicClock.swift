package import Glibc

/// Seconds on CLOCK_MONOTONIC: never set back, suspended time excluded.
package enum MonotonicClock {
  package static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return seconds(time)
  }

  package static func seconds(_ time: timespec) -> Double { Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9 }
}
