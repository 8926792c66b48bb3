import Kelvin
import KelvinMeasurements

/// A confidence interval of a measured number.
public struct Interval: Hashable, Sendable {
  let interval: ConfidenceInterval

  /// The interval's lower end, in the unit of the number.
  public var lower: Double { interval.lower }
  /// The interval's upper end.
  public var upper: Double { interval.upper }
  /// The fraction of repetitions in which such an interval contains the true value, 0…1; below 0.95 with few samples.
  public var confidence: Double { interval.confidence }
}

/// The distribution of the latencies of many inferences, in seconds. Percentiles are by nearest rank. The median's
/// interval uses order statistics, which assumes no distribution.
public struct LatencySummary: Hashable, Sendable {
  let statistics: LatencyStatistics

  /// The median.
  public var median: Double { statistics.median }
  /// The confidence interval of the median.
  public var medianInterval: Interval { Interval(interval: statistics.medianInterval) }
  /// The 90th percentile, which MLPerf's SingleStream scenario reports.
  public var p90: Double { statistics.p90 }
  /// The 99th percentile.
  public var p99: Double { statistics.p99 }
  /// The smallest latency.
  public var minimum: Double { statistics.minimum }
  /// The number of inferences.
  public var count: Int { statistics.count }
}
