import Glibc

/// Whether one of two interleaved series is faster, as far as the measurements can tell.
///
/// Sample i of both series belongs to one round, so a disturbance of the machine hits both and cancels in the ratio.
/// Drop rounds that were disturbed on one side only before comparing.
package struct PairedComparison: Sendable, Hashable, Codable {
  package enum Verdict: String, Sendable, Hashable, Codable {
    case faster
    case slower
    case noDifferenceMeasured = "no difference measured"
    /// There were too few pairs, or they scatter too much, for a difference of `tellingFactor` to show.
    case notCompared = "not compared"
  }

  /// Median over the pairs of candidate seconds / baseline seconds: 0.8 means the candidate takes 80 % of the time.
  package let ratio: Double
  /// Of the typical ratio: from the mean of the pairs' logarithms, whatever their neighbours' correlation
  /// (`CorrelatedMean`), and drawn out to hold `ratio`.
  package let interval: ConfidenceInterval
  /// Of the candidate against the baseline.
  package let verdict: Verdict
  package let pairs: Int
  /// In logarithms: half the interval, and what a true ratio needs beyond an edge to be measured beyond it in 8 of 10
  /// runs.
  private let reach: Double
  private let margin: Double

  /// Below this many pairs nothing is compared.
  package static let fewestPairs = 6

  /// Where not even this true ratio would have been seen, that none was measured says nothing.
  package static let tellingFactor = 2.0

  /// - Parameters:
  ///   - candidate: seconds, sample i measured next to `baseline[i]`.
  ///   - baseline: seconds, positive.
  ///   - level: the share of runs in which equal series may be called different, 0 < level < 1.
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

  /// The difference, 0.12 for 12 %, that would have had a verdict in 8 of 10 runs like this one; infinite where nothing
  /// was compared.
  ///
  /// - Parameter smallest: what a measured difference must reach to be called one.
  package func detectable(smallest: Double = 0) -> Double { expm1(max(reach, log1p(smallest)) + margin) }
}
