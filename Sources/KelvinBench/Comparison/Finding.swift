package import KelvinMeasurements

/// Which of several configurations, measured in turns, takes least, as far as the measurements can tell.
package struct Finding: Sendable, Hashable {
  /// Seconds, one for each configuration: the median over the rounds.
  package let medians: [Double]
  /// The configuration of the least median.
  package let best: Int
  /// Each configuration against `best`; nil for `best` itself and where there were too few rounds to compare.
  package let comparisons: [PairedComparison?]
  /// `best`, those from which no difference to it was measured, and all that run the same plan as one of them.
  package let tied: [Int]
  /// Rounds left out because somebody else took processor time.
  package let disturbed: Int

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

  /// - Parameters:
  ///   - rounds: for each configuration, seconds in each round; all of the same length, at least one.
  ///   - plans: for each configuration, a number that those with the same plan share; their differences are noise.
  ///     Empty where all differ.
  ///   - isDisturbed: for each round. Disturbed rounds are left out while six others remain.
  /// - Returns: nil where nothing usable was measured.
  package init?(_ rounds: [[Double]], plans: [Int] = [], isDisturbed: [Bool] = []) {
    guard let count = rounds.map(\.count).min(), count > 0 else { return nil }
    let quiet = (0..<count).filter { $0 >= isDisturbed.count || !isDisturbed[$0] }
    let kept = quiet.count >= PairedComparison.fewestPairs ? quiet : Array(0..<count)
    let series = rounds.map { round in kept.map { round[$0] } }
    let medians = series.map { (try? LatencyStatistics($0).median) ?? .infinity }
    guard let best = medians.indices.min(by: { medians[$0] < medians[$1] }), medians[best].isFinite else { return nil }
    self.medians = medians
    self.best = best
    disturbed = count - kept.count
    let comparisons = series.indices.map { index in
      index == best ? nil : try? PairedComparison(candidate: series[index], baseline: series[best])
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
    let isClear = Set(tied.map { plans[$0] }).count == 1 && Set(plans).count > 1
    winner = isClear ? tied.first : nil
  }
}
