import KelvinBasics
package import KelvinMeasurements

/// The fastest of several configurations that were measured in turns, as far as the measurements can tell.
package struct Finding: Sendable, Hashable {
  /// The seconds of each configuration that reports show: the given ones, else the median over the rounds.
  package let medians: [Double]
  /// The index of the least median.
  package let best: Int
  /// The comparison of each configuration with `best`; nil for `best` itself and when nothing was compared.
  package let comparisons: [PairedComparison?]
  /// The number of rounds that count.
  package let rounds: Int
  /// The reason for which nothing was compared, or for which `tied` configurations may still differ; otherwise nil.
  package let refusal: String?
  /// `best`, the configurations from which it did not measurably differ, and all that run the same plan as one of
  /// these.
  package let tied: [Int]
  /// For each configuration, a number that configurations with the same plan share.
  package let plans: [Int]
  /// The number of rounds left out because others took processor time.
  package let disturbed: Int
  /// The number of disturbed rounds that count because too few others remained.
  package let disturbedCounted: Int

  /// The configuration that is faster than every other beyond noise, the first among those with the same plan. Nil when
  /// there is none, or nothing to compare.
  package let winner: Int?

  /// The relative difference of medians below which configurations count as equal, however often it repeats. Execution
  /// order and memory addresses cause differences of this size.
  package static let smallestDifference = 0.02

  /// The best configuration after `winner`, and how many times as long it takes.
  package var runnerUp: (index: Int, ratio: Double)? {
    let others = comparisons.indices.filter { !tied.contains($0) }
    return others.compactMap { index in comparisons[index].map { (index, $0.ratio) } }.min { $0.1 < $1.1 }
  }

  /// The relative difference to `best` that would have been detected in 8 of 10 runs (0.12 for 12 %), the largest over
  /// the `tied` configurations with other plans. Nil when there are none.
  package let detectable: Double?

  /// The probability of naming a winner when there is none. An intersection of comparisons needs no correction for each
  /// of them (Berger, "Multiparameter hypothesis testing and acceptance sampling", 1982).
  package static let level = 0.05

  /// - Parameters:
  ///   - rounds: for each configuration, the seconds of each round; all of the same length, at least one.
  ///   - shown: for each configuration, the seconds that reports show as its median; empty to use the median over
  ///     rounds.
  ///   - plans: for each configuration, a number that configurations with the same plan share; their differences are
  ///     noise. Empty when all differ.
  ///   - isDisturbed: for each round. Disturbed rounds are left out while six others remain.
  ///   - level: the probability with which equal configurations may have a winner. Less than `Finding.level` when one
  ///     run answers several questions or evaluates the rounds several times.
  ///   - isComplete: whether all planned rounds were made; otherwise nothing is compared.
  /// - Returns: nil when nothing usable was measured.
  package init?(
    _ rounds: [[Double]], shown: [Double] = [], plans: [Int] = [], isDisturbed: [Bool] = [],
    level: Double = Finding.level,
    isComplete: Bool = true
  ) {
    guard let count = rounds.map(\.count).min(), count > 0 else { return nil }
    let quiet = (0..<count).filter { $0 >= isDisturbed.count || !isDisturbed[$0] }
    let kept = quiet.count >= PairedComparison.fewestPairs ? quiet : Array(0..<count)
    let series = rounds.map { round in kept.map { round[$0] } }
    let medians =
      shown.count == series.count ? shown : series.map { (try? LatencyStatistics($0).median) ?? .infinity }
    guard let best = medians.indices.min(by: { medians[$0] < medians[$1] }), medians[best].isFinite else { return nil }
    self.medians = medians
    self.best = best
    self.rounds = kept.count
    disturbed = count - kept.count
    disturbedCounted = kept.count - kept.count { $0 >= isDisturbed.count || !isDisturbed[$0] }
    let shortage: String? =
      if !isComplete {
        "interrupted"
      } else if kept.count < PairedComparison.fewestPairs {
        "\(kept.count) \(kept.count == 1 ? "round" : "rounds"), a comparison needs \(PairedComparison.fewestPairs)"
      } else {
        nil
      }
    let isCompared = shortage == nil
    let comparisons = series.indices.map { index in
      index == best || !isCompared
        ? nil : try? PairedComparison(candidate: series[index], baseline: series[best], level: level)
    }
    self.comparisons = comparisons
    let plans = plans.count == rounds.count ? plans : Array(rounds.indices)
    self.plans = plans
    let tiedPlans = Set(
      series.indices.filter { index in
        guard plans[index] != plans[best], let comparison = comparisons[index] else { return true }
        return comparison.verdict != .slower || comparison.ratio < 1 + Self.smallestDifference
      }.map { plans[$0] })
    let tied = series.indices.filter { tiedPlans.contains(plans[$0]) }
    self.tied = tied
    let isClear = isCompared && Set(tied.map { plans[$0] }).count == 1 && Set(plans).count > 1
    winner = isClear ? tied.first : nil
    detectable = tied.filter { plans[$0] != plans[best] }
      .compactMap { comparisons[$0]?.detectable(smallest: Self.smallestDifference) }.max()
    let isBlind = tied.contains { plans[$0] != plans[best] && comparisons[$0]?.verdict == .notCompared }
    refusal = shortage ?? (isBlind ? Self.blindness(rounds: kept.count, detectable) : nil)
  }

  /// The factor above which a detectable difference is not stated.
  private static let largestFactor = 10.0

  /// Returns `6 rounds, which scatter so that only a difference of 3.3 × would have been seen in 8 of 10 runs`.
  private static func blindness(rounds: Int, _ detectable: Double?) -> String {
    let factor = 1 + (detectable ?? .infinity)
    let seen =
      factor <= largestFactor
      ? "only a difference of \(HumanReadable.significant(factor)) × would have been seen in 8 of 10 runs"
      : "not even a tenfold difference is sure to be seen; measure more rounds, or on a quiet machine"
    return "\(rounds) rounds, which scatter so that \(seen)"
  }

  /// Whether further rounds cannot change the answer much: there is a winner, nothing to compare with, or any relevant
  /// difference would have been detected.
  package var isDecided: Bool {
    winner != nil || refusal == nil && (detectable ?? 0) <= 2 * Self.smallestDifference
  }
}
