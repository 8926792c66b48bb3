import KelvinBasics

/// Whether one of two interleaved series is faster, as far as the measurements can tell.
///
/// Sample i of both series belongs to one round, so a disturbance of the machine hits both and cancels in the ratio.
/// Drop rounds that were disturbed on one side only before comparing.
package struct PairedComparison: Sendable, Hashable, Codable {
  package enum Verdict: String, Sendable, Hashable, Codable {
    case faster
    case slower
    case noDifferenceMeasured = "no difference measured"
  }

  /// Median over the pairs of candidate seconds / baseline seconds: 0.8 means the candidate takes 80 % of the time.
  package let ratio: Double
  /// Of `ratio`: the hull of the block bootstrap's interval and the exact one between order statistics, widened about
  /// `ratio` for correlated neighbours, since neither allows enough for them where there are few pairs: by
  /// √((1 + ρ) / (1 − ρ)), what a correlation ρ between neighbours adds to the deviation of a mean.
  package let interval: ConfidenceInterval
  /// Of the candidate against the baseline.
  package let verdict: Verdict
  package let pairs: Int

  /// Below this many pairs the verdict is always "no difference measured".
  package static let fewestPairs = 6

  /// - Parameters:
  ///   - candidate: seconds, sample i measured next to `baseline[i]`.
  ///   - baseline: seconds, positive.
  ///   - seed: of the bootstrap; the same input and seed give the same result everywhere.
  /// - Throws: `seriesOfDifferentLength`, `tooFewSamples` when empty, `invalidSample` unless positive and finite.
  package init(
    candidate: [Double], baseline: [Double], seed: UInt64 = 1, resamples: Int = 2000
  ) throws(MeasurementError) {
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
    let order = ratios.indices.sorted { ratios[$0] < ratios[$1] }
    var rankOf = [Int](repeating: 0, count: order.count)
    for (rank, index) in order.enumerated() { rankOf[index] = rank }
    let middle = (ratios.count + 1) / 2

    let bootstrap = BlockBootstrap(count: ratios.count)
    let rounds = max(200, min(resamples, 20_000_000 / ratios.count))
    var generator = SeededGenerator(seed: seed)
    var tally = [Int](repeating: 0, count: ratios.count)
    var medians: [Double] = []
    medians.reserveCapacity(rounds)
    for _ in 0..<rounds {
      for rank in tally.indices { tally[rank] = 0 }
      bootstrap.resample(using: &generator) { _, index in tally[rankOf[index]] += 1 }
      var seen = 0
      var rank = -1
      while seen < middle {
        rank += 1
        seen += tally[rank]
      }
      medians.append(ratios[order[rank]])
    }

    ratio = ratios[order[middle - 1]]
    let resampled = BlockBootstrap.interval(medians)
    let exact = LatencyStatistics.medianInterval(ofSorted: order.map { ratios[$0] })
    let correlation = Self.correlation(ratios)
    let widening = ((1 + correlation) / (1 - correlation)).squareRoot()
    interval = ConfidenceInterval(
      lower: max(0, ratio - widening * (ratio - min(resampled.lower, exact.lower))),
      upper: ratio + widening * (max(resampled.upper, exact.upper) - ratio),
      confidence: min(resampled.confidence, exact.confidence))
    pairs = ratios.count
    if pairs < Self.fewestPairs || interval.contains(1) {
      verdict = .noDifferenceMeasured
    } else {
      verdict = interval.upper < 1 ? .faster : .slower
    }
  }

  /// Between neighbours, 0…0.9: the sample's, less its bias −(1 + 3ρ) / n. Source: Kendall, "Note on bias in the
  /// estimation of autocorrelation", 1954.
  private static func correlation(_ samples: [Double]) -> Double {
    let count = Double(samples.count)
    let mean = samples.reduce(0, +) / count
    let deviations = samples.map { $0 - mean }
    let power = deviations.reduce(0) { $0 + $1 * $1 }
    guard power > 0 else { return 0 }
    let sample = zip(deviations, deviations.dropFirst()).reduce(0) { $0 + $1.0 * $1.1 } / power
    return min(max(sample + (1 + 3 * max(sample, 0)) / count, 0), 0.9)
  }
}
