package import KelvinMeasurements

/// The power of a machine at rest, by energy counter, from several windows.
package struct IdlePower: Sendable, Hashable {
  package struct Reading: Sendable, Hashable {
    package var watts: Double
    /// Half the width of the 95 % interval of `watts`.
    package var doubt: Double
  }

  /// By the counter's name; empty without counters.
  package private(set) var sensors: [String: Reading] = [:]

  /// Seconds of one window.
  package static let window = 0.5
  private static let fewestWindows = 4
  /// The share of the power that is sufficient as doubt.
  private static let accuracy = 0.01

  /// Rests until the power of every counter is certain to 1 % or the time is used. Returns at once without counters.
  ///
  /// - Parameter seconds: the most seconds to rest; three windows are made in any case.
  package init(_ counters: EnergyCounters, clock: any MeasurementClock, atMost seconds: Double = 6) {
    guard !counters.readings().isEmpty else { return }
    let deadline = clock.now() + seconds
    // A counter that lags still counts the work before the rest, so the first window is not used.
    clock.sleep(until: clock.now() + Self.window)
    var samples: [String: [Double]] = [:]
    var windows = 0
    repeat {
      for (sensor, watts) in counters.watts(over: Self.window, clock: clock) {
        samples[sensor, default: []].append(watts)
      }
      windows += 1
      sensors = samples.compactMapValues { MeanInterval($0).map { Reading(watts: $0.mean, doubt: $0.half) } }
    } while windows < 2 || clock.now() + Self.window <= deadline && (windows < Self.fewestWindows || !isCertain)
  }

  private var isCertain: Bool { sensors.values.allSatisfy { $0.doubt <= Self.accuracy * $0.watts } }

  /// Returns the power of some counters together. Their doubts add up.
  package func sum(of names: [String]) -> Reading {
    names.reduce(Reading(watts: 0, doubt: 0)) { sum, name in
      let reading = sensors[name] ?? Reading(watts: 0, doubt: 0)
      return Reading(watts: sum.watts + reading.watts, doubt: sum.doubt + reading.doubt)
    }
  }
}
