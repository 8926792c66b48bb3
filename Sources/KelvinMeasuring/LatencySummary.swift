import Kelvin
import KelvinBasics
import KelvinMeasurements

/// A confidence interval of a measured number.
public struct MeasuredInterval<Value: Comparable & Hashable & Sendable>: Hashable, Sendable {
  /// The interval's lower end.
  public let lower: Value
  /// The interval's upper end.
  public let upper: Value
  /// The fraction of repetitions in which such an interval contains the true value, 0…1; below 0.95 with few samples.
  public let confidence: Double
}

extension MeasuredInterval<Double> {
  init(_ interval: ConfidenceInterval) {
    self.init(lower: interval.lower, upper: interval.upper, confidence: interval.confidence)
  }
}

extension MeasuredInterval<Duration> {
  init(seconds interval: ConfidenceInterval) {
    self.init(
      lower: Duration.limited(seconds: interval.lower), upper: Duration.limited(seconds: interval.upper),
      confidence: interval.confidence)
  }
}

/// The distribution of the latencies of many inferences. Percentiles are by nearest rank. The median's
/// interval uses order statistics, which assumes no distribution.
public struct LatencySummary: Hashable, Sendable {
  let statistics: LatencyStatistics

  /// The median.
  public var median: Duration { Duration.limited(seconds: statistics.median) }
  /// The confidence interval of the median.
  public var medianInterval: MeasuredInterval<Duration> { MeasuredInterval(seconds: statistics.medianInterval) }
  /// The 90th percentile, which MLPerf's SingleStream scenario reports.
  public var p90: Duration { Duration.limited(seconds: statistics.p90) }
  /// The 99th percentile.
  public var p99: Duration { Duration.limited(seconds: statistics.p99) }
  /// The smallest latency.
  public var minimum: Duration { Duration.limited(seconds: statistics.minimum) }
  /// The number of inferences.
  public var count: Int { statistics.count }
}
