import Glibc

/// The comparison of two interleaved series.
///
/// Sample i of both series belongs to one round, so a disturbance of the machine affects both and cancels in the ratio.
/// Rounds that were disturbed for one series only must be removed before comparing.
package struct PairedComparison: Sendable, Hashable, Codable {
  package enum Verdict: String, Sendable, Hashable, Codable {
    case faster
    case slower
    case noDifferenceMeasured = "no difference measured"
    /// Too few pairs, or too much scatter to detect a difference of `tellingFactor`.
    case notCompared = "not compared"
  }

  /// The median over the pairs of candidate seconds / baseline seconds: 0.8 means that the candidate takes 80 % of the
  /// time.
  package let ratio: Double
  /// The interval of the typical ratio, from the mean of the pairs' logarithms for any correlation of neighbours
  /// (`CorrelatedMean`), extended to contain `ratio`.
  package let interval: ConfidenceInterval
  /// The verdict on the candidate, compared with the baseline.
  package let verdict: Verdict
  package let pairs: Int
  /// In logarithms: half the interval, and the distance of a true ratio beyond an edge at which it is measured beyond
  /// the edge in 8 of 10 runs.
  private let reach: Double
  private let margin: Double

  /// The fewest pairs of a comparison.
  package static let fewestPairs = 6

  /// The true ratio that must have been detectable for "no difference measured" to be reported.
  package static let tellingFactor = 2.0

  /// - Parameters:
  ///   - candidate: seconds; sample i was measured next to `baseline[i]`.
  ///   - baseline: seconds, positive.
  ///   - level: the probability with which equal series may be called different, 0 < level < 1.
  /// - Throws: `seriesOfDifferentLength`, `tooFewSamples` when empty, `invalidSample` unless positive and finite.
  package init(candidate: [Double], baseline: [Double], level: Double = 0.05) throws(MeasurementError) {
    guard candidate.count == baseline.count else {
      throw .seriesOfDifferentLength(candidate: candidate.count, baseline: baseline.count)
    }
    guard !candidate.isEmpty else { throw .tooFewSamples(needed: 1, got: 0) }
    for series in [candidate, baseline] {
      for (index, sample) in series.enumerated() where !(sample.isFinite && sample > 0) {
        throw .invalidSample(index: index, value: sample)
      }
    }
    let ratios = zip(candidate, baseline).map { $0 / $1 }
    pairs = ratios.count
    ratio = LatencyStatistics.percentile(perMille: 500, ofSorted: ratios.sorted())
    guard pairs >= Self.fewestPairs else {
      interval = ConfidenceInterval(lower: 0, upper: .greatestFiniteMagnitude, confidence: 1)
      verdict = .notCompared
      (reach, margin) = (.infinity, 0)
      return
    }
    let mean = CorrelatedMean(ratios.map { log($0) }, level: level)
    interval = ConfidenceInterval(
      lower: min(ratio, exp(mean.lower)), upper: max(ratio, min(exp(mean.upper), .greatestFiniteMagnitude)),
      confidence: 1 - level)
    (reach, margin) = (mean.reach, mean.margin)
    if interval.contains(1) {
      verdict = expm1(reach + margin) <= Self.tellingFactor - 1 ? .noDifferenceMeasured : .notCompared
    } else {
      verdict = interval.upper < 1 ? .faster : .slower
    }
  }

  /// Returns the relative difference, 0.12 for 12 %, that would have had a verdict in 8 of 10 runs like this one;
  /// infinite when nothing was compared.
  ///
  /// - Parameter smallest: the smallest relative difference that counts.
  package func detectable(smallest: Double = 0) -> Double { expm1(max(reach, log1p(smallest)) + margin) }
}
