package import KelvinThermal

/// Looks at the machine's heat and at its neighbours about twice a second while something runs.
package struct HeatLog {
  /// Seconds between looks.
  private static let interval = 0.5

  private var monitor: ThermalMonitor
  private var due: Double
  package private(set) var latest: ThermalReport?

  package init(_ monitor: ThermalMonitor, at now: Double) {
    self.monitor = monitor
    due = now + Self.interval
    latest = self.monitor.sample(at: now)
  }

  /// A report where one is due.
  package mutating func sample(at now: Double) -> ThermalReport? {
    guard now >= due else { return nil }
    due = now + Self.interval
    let report = monitor.sample(at: now)
    latest = report
    return report
  }
}
