#if Measuring
import KelvinThermal

/// How hot the machine runs, with the meaning of Apple's `ProcessInfo.ThermalState`.
///
/// Reached by headroom *h* (1.0 is the limit) and effective over reference clock *r*: nominal while h < 0.70 and
/// r ≥ 0.97, fair while h < 0.85 and r ≥ 0.90, serious while h < 1.0 and r ≥ 0.75, else critical; a cooler state only
/// with 0.03 to spare and after five seconds.
public enum ThermalState: Int, Hashable, Sendable, Comparable, CaseIterable, CustomStringConvertible {
  /// Within normal limits.
  case nominal = 0
  /// Slightly elevated: put off what can wait.
  case fair = 1
  /// High: use less of CPU, GPU and I/O, lower the frame rate.
  case serious = 2
  /// The machine slows itself down: do the least.
  case critical = 3

  /// Cooler states come first.
  public static func < (a: ThermalState, b: ThermalState) -> Bool { a.rawValue < b.rawValue }

  /// `nominal`, `fair`, `serious` or `critical`.
  public var description: String { KelvinThermal.ThermalState(self).name }

  init(_ state: KelvinThermal.ThermalState) { self = ThermalState(rawValue: state.rawValue) ?? .nominal }
}

extension KelvinThermal.ThermalState {
  init(_ state: Kelvin.ThermalState) { self = Self(rawValue: state.rawValue) ?? .nominal }
}

/// One look at the heat of the machine.
public struct ThermalReading: Hashable, Sendable {
  private let report: ThermalReport

  init(_ report: ThermalReport) { self.report = report }

  /// Seconds since the monitor was made.
  public var time: Double { report.at }
  /// The state, free of flutter.
  public var state: ThermalState { ThermalState(report.state) }
  /// How near the limit is: 1.0 is the limit, which may be exceeded.
  public var headroom: Double { report.headroom }
  /// Where these numbers come from, in words: a sensor's name, or the model with its envelope and what feeds it.
  public var source: String { report.sourceDescription }
  /// Whether a temperature was read. Otherwise energy counters, the effective clock or utilisation feed a model.
  public var isMeasured: Bool { report.source == .sensor }
  /// The temperature nearest its limit; nil where nothing measures degrees.
  public var celsius: Double? { report.celsius }
  /// The machine's power, measured or estimated as `source` says; nil where only a temperature is known.
  public var watts: Double? { report.watts }
  /// Effective over reference clock; nil where it cannot be told from others taking the processor's time.
  public var clockRatio: Double? { report.clockRatio }
  /// Seconds until headroom is 1.0 at the present load, by the model; nil where that never happens.
  public var timeToLimit: Double? { report.timeToLimit }
}
#endif
