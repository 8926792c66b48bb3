import Kelvin
import KelvinMeasurements

/// A confidence interval of a measured number.
public struct Interval: Hashable, Sendable {
  /// The interval's lower end, in the unit of the number.
  public let lower: Double
  /// The interval's upper end.
  public let upper: Double
  /// The fraction of repetitions in which such an interval contains the true value, 0…1; below 0.95 with few samples.
  public let confidence: Double

  init(_ interval: ConfidenceInterval) {
    (lower, upper, confidence) = (interval.lower, interval.upper, interval.confidence)
  }
}

/// The distribution of the latencies of many inferences, in seconds. Percentiles are by nearest rank. The median's
/// interval uses order statistics, which assumes no distribution.
public struct LatencySummary: Hashable, Sendable {
  /// The median.
  public let median: Double
  /// The confidence interval of the median.
  public let medianInterval: Interval
  /// The 90th percentile, which MLPerf's SingleStream scenario reports.
  public let p90: Double
  /// The 99th percentile.
  public let p99: Double
  /// The smallest latency.
  public let minimum: Double
  /// The number of inferences.
  public let count: Int

  init(_ statistics: LatencyStatistics) {
    median = statistics.median
    medianInterval = Interval(statistics.medianInterval)
    p90 = statistics.p90
    p99 = statistics.p99
    minimum = statistics.minimum
    count = statistics.count
  }
}
