package import KelvinThermal

/// Samples the machine's heat and contention about twice a second during a measurement.
package struct HeatLog {
  /// Seconds between samples.
  private static let interval = 0.5

  private var monitor: ThermalMonitor
  private var due: Double
  package private(set) var latest: ThermalReport?

  package init(_ monitor: ThermalMonitor, at now: Double) {
    self.monitor = monitor
    due = now + Self.interval
    latest = self.monitor.sample(at: now)
  }

  /// Returns a report if one is due.
  package mutating func sample(at now: Double) -> ThermalReport? {
    guard now >= due else { return nil }
    due = now + Self.interval
    let report = monitor.sample(at: now)
    latest = report
    return report
  }
}
