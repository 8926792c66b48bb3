import Glibc
import KelvinBasics

/// The comparison of two interleaved series.
///
/// Sample i of both series belongs to one round, so a disturbance of the machine affects both and cancels in the ratio.
/// The order within each round must be that of `turns`, drawn at random (`SignedRanks`). Rounds that were disturbed for one series only
/// must be removed before comparing.
package struct PairedComparison: Sendable, Hashable, Codable {
  package enum Verdict: String, Sendable, Hashable, Codable {
    case faster
    case slower
    case noDifferenceMeasured = "no difference measured"
    /// Too few pairs, or too much scatter to detect a difference of `tellingFactor`.
    case notCompared = "not compared"
  }

  /// The typical candidate seconds / baseline seconds: 0.8 means that the candidate takes 80 % of the time. It is that
  /// of `SignedRanks`, else the median over the pairs.
  package let ratio: Double
  /// The interval of the typical ratio, from the signed ranks of the pairs' logarithms, extended to contain `ratio`.
  /// For pairs that are too few for the level or correlate, it is that of their mean for any correlation
  /// (`CorrelatedMean`), but no further beyond the pairs than `farthest` times their range.
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

  /// Noise that correlates may move all pairs. It is not taken to move them by more than this many times the range of
  /// what it did to them.
  private static let farthest = 3.0

  /// The true ratio that must have been detectable for "no difference measured" to be reported.
  package static let tellingFactor = 2.0

  /// Returns the turns of one round in an order drawn at random, the same in each run of the program.
  package static func turns<Turn>(_ turns: some Collection<Turn>, round: Int) -> [Turn] {
    var random = SeededGenerator(seed: UInt64(round))
    return turns.shuffled(using: &random)
  }

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
    let median = LatencyStatistics.percentile(perMille: 500, ofSorted: ratios.sorted())
    guard pairs >= Self.fewestPairs else {
      interval = ConfidenceInterval(lower: 0, upper: .greatestFiniteMagnitude, confidence: 1)
      verdict = .notCompared
      (ratio, reach, margin) = (median, .infinity, 0)
      return
    }
    let logarithms = ratios.map { log($0) }
    let edges: (lower: Double, upper: Double)
    if let ranks = SignedRanks(logarithms, level: level) {
      (ratio, edges, reach, margin) = (exp(ranks.shift), (ranks.lower, ranks.upper), ranks.reach, ranks.margin)
    } else {
      let mean = CorrelatedMean(logarithms, level: level)
      let (least, most) = (logarithms.min() ?? 0, logarithms.max() ?? 0)
      let room = Self.farthest * (most - least)
      (ratio, edges) = (median, (max(mean.lower, least - room), min(mean.upper, most + room)))
      (reach, margin) = (min(mean.reach, (edges.upper - edges.lower) / 2), mean.margin)
    }
    interval = ConfidenceInterval(
      lower: min(ratio, exp(edges.lower)), upper: max(ratio, min(exp(edges.upper), .greatestFiniteMagnitude)),
      confidence: 1 - level)
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
