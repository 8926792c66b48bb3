import Glibc

/// The summary of one series of latencies, in seconds.
///
/// Percentiles are nearest-rank: the q-quantile of n samples is the ⌈q·n⌉-th smallest, so every reported value was
/// measured. For even n the median is therefore the lower of the two middle samples.
package struct LatencyStatistics: Sendable, Hashable, Codable {
  package let count: Int
  package let minimum: Double
  package let p50: Double
  package let p90: Double
  package let p99: Double
  package let maximum: Double
  package let mean: Double
  /// The interval of the median, at 95 % or the most that `count` samples permit.
  package let medianInterval: ConfidenceInterval

  package var median: Double { p50 }

  /// - Parameter samples: seconds, in any order.
  /// - Throws: `tooFewSamples` when empty, `invalidSample` for a negative or non-finite one.
  package init(_ samples: [Double]) throws(MeasurementError) {
    guard !samples.isEmpty else { throw .tooFewSamples(needed: 1, got: 0) }
    for (index, sample) in samples.enumerated() where !(sample.isFinite && sample >= 0) {
      throw .invalidSample(index: index, value: sample)
    }
    let sorted = samples.sorted()
    count = sorted.count
    minimum = sorted[0]
    maximum = sorted[sorted.count - 1]
    p50 = Self.percentile(perMille: 500, ofSorted: sorted)
    p90 = Self.percentile(perMille: 900, ofSorted: sorted)
    p99 = Self.percentile(perMille: 990, ofSorted: sorted)
    mean = sorted.reduce(0) { $0 + $1 / Double(sorted.count) }
    medianInterval = Self.medianInterval(ofSorted: sorted)
  }

  /// Half the width of the median's interval divided by the median: 0.02 means "± 2 %". Infinite when the median is
  /// zero and the interval is not.
  package var relativeUncertainty: Double {
    let half = (medianInterval.upper - medianInterval.lower) / 2
    return half == 0 ? 0 : half / p50
  }

  /// Returns the nearest-rank percentile. Integer arithmetic ensures that 0.9 × 30 gives rank 27, not 28.
  ///
  /// - Parameter sorted: ascending and not empty.
  package static func percentile(perMille: Int, ofSorted sorted: [Double]) -> Double {
    let rank = (sorted.count * min(max(perMille, 0), 1000) + 999) / 1000
    return sorted[max(rank, 1) - 1]
  }

  /// Returns the distribution-free interval of the median between two order statistics (David and Nagaraja, "Order
  /// Statistics", §7.1). With B ~ Binomial(n, ½), [x₍l₎, x₍n+1−l₎] covers the median with probability 1 − 2 P(B < l).
  /// The largest l that keeps this at 95 % is used, or l = 1 if there is none (fewer than six samples).
  static func medianInterval(ofSorted sorted: [Double], confidence: Double = 0.95) -> ConfidenceInterval {
    let n = sorted.count
    var logProbability = -Double(n) * log(2.0)
    var below = exp(logProbability)
    var rank = 1
    var outside = below
    while rank < (n + 1) / 2 {
      logProbability += log(Double(n - rank + 1)) - log(Double(rank))
      below += exp(logProbability)
      guard 2 * below <= 1 - confidence else { break }
      rank += 1
      outside = below
    }
    return ConfidenceInterval(
      lower: sorted[rank - 1], upper: sorted[n - rank], confidence: max(0, 1 - 2 * outside))
  }
}
