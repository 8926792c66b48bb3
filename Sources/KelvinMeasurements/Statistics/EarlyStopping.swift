import Glibc

/// A percentile that a run may claim with 99 % confidence for its number of queries.
///
/// The rule is MLPerf LoadGen's early stopping for SingleStream, with tolerance 0. For n queries, t is the largest
/// number with P(X ≤ t) ≤ 1 − c, where X ~ Binomial(n, 1 − p) counts the queries above percentile p. The t-th largest
/// latency is then at least the true percentile with confidence c.
///
/// Without such a t ≥ 1 the run was too short; p = 0.9 and c = 0.99 require 64 queries.
package struct EarlyStopping: Sendable, Hashable, Codable {
  /// p: the share of the queries that are at least this fast.
  package let percentile: Double
  package let confidence: Double
  /// n: the number of queries.
  package let queries: Int
  /// The n for which t = 1.
  package let fewestQueries: Int
  /// The number of queries slower than the estimate, t − 1; nil for too few queries.
  package let discarded: Int?
  /// The estimate in seconds; nil for too few queries.
  package let estimate: Double?

  /// - Parameters:
  ///   - samples: seconds, in any order.
  ///   - percentile: 0.5 ..< 1.
  package init(_ samples: [Double], percentile: Double = 0.9, confidence: Double = 0.99) {
    self.percentile = percentile
    self.confidence = confidence
    queries = samples.count
    var fewest = 1
    while Self.allowance(fewest, percentile, confidence) == nil { fewest += 1 }
    fewestQueries = fewest
    let allowance = Self.allowance(samples.count, percentile, confidence)
    discarded = allowance.map { $0 - 1 }
    estimate = allowance.map { samples.sorted()[samples.count - $0] }
  }

  /// Returns t; nil if it is 0.
  private static func allowance(_ count: Int, _ percentile: Double, _ confidence: Double) -> Int? {
    let above = 1 - percentile
    // The sum of the binomial terms from 0 on, each computed from the previous one in logarithms.
    var term = Double(count) * log(percentile)
    var sum = exp(term)
    var allowed = 0
    for t in 1...max(count, 1) where t <= count {
      term += log(Double(count - t + 1) / Double(t)) + log(above / percentile)
      sum += exp(term)
      guard sum <= 1 - confidence else { break }
      allowed = t
    }
    return allowed > 0 ? allowed : nil
  }
}
