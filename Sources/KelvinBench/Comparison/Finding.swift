import KelvinBasics
package import KelvinMeasurements

/// Which of several configurations, measured in turns, takes least, as far as the measurements can tell.
package struct Finding: Sendable, Hashable {
  /// Seconds, one for each configuration, as they are shown: those given, else the median over the rounds.
  package let medians: [Double]
  /// The configuration of the least median.
  package let best: Int
  /// Each configuration against `best`; nil for `best` itself and where nothing was compared.
  package let comparisons: [PairedComparison?]
  /// Rounds that count.
  package let rounds: Int
  /// Why nothing was compared, or what is `tied` may well differ, in words; nil where neither is so.
  package let refusal: String?
  /// `best`, those from which no difference to it was measured, and all that run the same plan as one of them.
  package let tied: [Int]
  /// Rounds left out because somebody else took processor time.
  package let disturbed: Int
  /// Rounds that count although somebody else took processor time, because too few others were left.
  package let disturbedCounted: Int

  /// The configuration that is faster than every other beyond noise, the first of those that run the same plan; nil
  /// where there is none, or nothing to compare.
  package let winner: Int?

  /// Differences of the medians below this share are not called differences, however often they repeat: which
  /// configuration ran after which, and where its memory came to lie, make as much.
  package static let smallestDifference = 0.02

  /// The configuration after `winner`, and how many times as long it takes.
  package var runnerUp: (index: Int, ratio: Double)? {
    let others = comparisons.indices.filter { !tied.contains($0) }
    return others.compactMap { index in comparisons[index].map { (index, $0.ratio) } }.min { $0.1 < $1.1 }
  }

  /// The difference to `best`, 0.12 for 12 %, that would have been called one in 8 of 10 runs, for the least certain
  /// of those that are `tied` by more than their plan; nil where there are none.
  package let detectable: Double?

  /// A winner is named where none is in at most this share of runs; an intersection of comparisons needs no further
  /// share for each (Berger, "Multiparameter hypothesis testing and acceptance sampling", 1982).
  package static let level = 0.05

  /// - Parameters:
  ///   - rounds: for each configuration, seconds in each round; all of the same length, at least one.
  ///   - shown: for each configuration, the seconds that everybody calls its median, so that there is one number of it.
  ///   - plans: for each configuration, a number that those with the same plan share; their differences are noise.
  ///     Empty where all differ.
  ///   - isDisturbed: for each round. Disturbed rounds are left out while six others remain.
  ///   - level: the share of runs in which equal configurations may have a winner; less than `Finding.level` where
  ///     one run answers several questions, or looks at the rounds several times.
  ///   - isComplete: whether the rounds are all that were wanted; nothing is compared where they are not.
  /// - Returns: nil where nothing usable was measured.
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

  /// Beyond this factor how large a difference would have to be says no more than that rounds scatter.
  private static let largestFactor = 10.0

  /// `6 rounds, which scatter so that only a difference of 3.3 × would have been seen in 8 of 10 runs`.
  private static func blindness(rounds: Int, _ detectable: Double?) -> String {
    let factor = 1 + (detectable ?? .infinity)
    let seen =
      factor <= largestFactor
      ? "only a difference of \(HumanReadable.significant(factor)) × would have been seen in 8 of 10 runs"
      : "not even a tenfold difference is sure to be seen; more rounds, or a quiet machine, tell"
    return "\(rounds) rounds, which scatter so that \(seen)"
  }

  /// Whether further rounds could not change the answer by much: there is a winner, nobody to compare with, or any
  /// difference worth the name would have been seen.
  package var isDecided: Bool {
    winner != nil || refusal == nil && (detectable ?? 0) <= 2 * Self.smallestDifference
  }
}
