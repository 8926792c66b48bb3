import Kelvin
import KelvinBasics
import KelvinThermal

/// The thermal state of the machine, with the meaning of Apple's `ProcessInfo.ThermalState`.
///
/// The state depends on headroom *h* (1.0 is the limit) and on *r*, the effective clock over the reference clock. It is
/// nominal while h < 0.70 and r ≥ 0.97, fair while h < 0.85 and r ≥ 0.90, serious while h < 1.0 and r ≥ 0.75, else
/// critical. A change to a cooler state requires a margin of 0.03 for five seconds.
public enum ThermalState: Int, Hashable, Sendable, Comparable, CaseIterable, CustomStringConvertible {
  /// Within normal limits.
  case nominal = 0
  /// Slightly elevated: postpone optional work.
  case fair = 1
  /// High: reduce the use of CPU, GPU and I/O, and lower the frame rate.
  case serious = 2
  /// The machine throttles itself: reduce work to a minimum.
  case critical = 3

  /// Orders cooler states first.
  public static func < (a: ThermalState, b: ThermalState) -> Bool { a.rawValue < b.rawValue }

  /// `nominal`, `fair`, `serious` or `critical`.
  public var description: String { KelvinThermal.ThermalState(self).name }

  init(_ state: KelvinThermal.ThermalState) { self = ThermalState(rawValue: state.rawValue) ?? .nominal }
}

extension KelvinThermal.ThermalState {
  init(_ state: KelvinMeasuring.ThermalState) { self = Self(rawValue: state.rawValue) ?? .nominal }
}

/// One reading of the machine's thermal sensors and thermal model.
public struct ThermalReading: Hashable, Sendable {
  private let report: ThermalReport

  init(_ report: ThermalReport) { self.report = report }

  /// The time since the monitor was made.
  public var time: Duration { Duration.limited(seconds: report.at) }
  /// The state, with hysteresis.
  public var state: ThermalState { ThermalState(report.state) }
  /// The headroom: 1.0 is the limit, which can be exceeded.
  public var headroom: Double { report.headroom }
  /// The source of these numbers: a sensor's name, or the model with its envelope and its input.
  public var source: String { report.sourceDescription }
  /// Whether a temperature was read. Otherwise energy counters, the effective clock or utilization drive the model.
  public var isMeasured: Bool { report.source == .sensor }
  /// The temperature that is closest to its limit; nil if no sensor measures a temperature.
  public var celsius: Double? { report.celsius }
  /// The machine's power in watts, measured or estimated as `source` says; nil if only a temperature is known.
  public var watts: Double? { report.watts }
  /// The effective clock over the reference clock; nil if contention for the processor makes it unknown.
  public var clockRatio: Double? { report.clockRatio }
  /// The time until headroom reaches 1.0 at the present load, by the model; nil if that never happens.
  public var timeToLimit: Duration? { report.timeToLimit.map(Duration.limited(seconds:)) }
}
