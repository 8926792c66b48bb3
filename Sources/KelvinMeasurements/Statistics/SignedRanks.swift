import Glibc

/// The typical difference of pairs whose order was drawn at random, with an interval from their signed ranks.
///
/// When the order within each pair is drawn at random, equal halves give each difference either sign with the same
/// probability, independently of the other pairs, however noise varies over time. The interval holds every shift that
/// Wilcoxon's exact test of these signs does not reject. Its ends are order statistics of the means of all pairs of
/// differences (Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", 2014, section 3.3).
///
/// Random order does not help against noise that stays with one half, such as its memory addresses. Only such noise
/// correlates neighbouring differences. Ranks are not used if they correlate.
package struct SignedRanks {
  /// The median of the means of all pairs of differences (Hodges and Lehmann, 1963).
  package let shift: Double
  package let lower: Double
  package let upper: Double
  /// Half the width of the interval.
  let reach: Double
  /// The distance of a true shift beyond an edge at which it is measured beyond the edge in 8 of 10 repetitions. Of the
  /// ten, one is judged without ranks.
  let margin: Double

  /// The most differences that are ranked. Of more, neighbours are averaged.
  private static let mostRanked = 100
  /// The correlation of neighbours, in standard deviations 1/√n above its expectation −1/n, from which it counts as
  /// real: independent differences pass it in one of ten series.
  private static let correlationLimit = 1.28

  /// - Parameters:
  ///   - differences: in the order of measurement.
  ///   - level: the probability with which the interval may miss the shift, 0 < level < 1.
  /// - Returns: nil when there are too few differences for the level, or neighbours correlate.
  package init?(_ differences: [Double], level: Double) {
    let count = Double(differences.count)
    let correlation = CorrelatedMean.correlation(differences)
    guard correlation <= (Self.correlationLimit * count.squareRoot() - 1) / count else { return nil }
    let values = Self.averaged(differences)
    guard let skipped = Self.skipped(values.count, level: level) else { return nil }
    var means: [Double] = []
    means.reserveCapacity(values.count * (values.count + 1) / 2)
    for (index, value) in values.enumerated() {
      for other in values[index...] { means.append((value + other) / 2) }
    }
    means.sort()
    shift = (means[(means.count - 1) / 2] + means[means.count / 2]) / 2
    (lower, upper) = (means[skipped], means[means.count - 1 - skipped])
    reach = (upper - lower) / 2
    let degrees = max(1, values.count - 1)
    margin =
      reach * StudentT.twoSided(level: 0.3, degrees: degrees) / StudentT.twoSided(level: level, degrees: degrees)
  }

  /// Returns at most `mostRanked` means of neighbours.
  private static func averaged(_ differences: [Double]) -> [Double] {
    let groups = min(differences.count, mostRanked)
    return (0..<groups).map { group in
      let part = differences[group * differences.count / groups..<(group + 1) * differences.count / groups]
      return part.reduce(0, +) / Double(part.count)
    }
  }

  /// Returns the number of means to leave out at each end; nil when even the extremes hold the shift too seldom.
  private static func skipped(_ count: Int, level: Double) -> Int? {
    // The distribution of the sum of the ranks with a positive sign.
    var chances = [1.0]
    for rank in 1...count {
      chances += [Double](repeating: 0, count: rank)
      for sum in chances.indices.reversed() {
        chances[sum] = (chances[sum] + (sum < rank ? 0 : chances[sum - rank])) / 2
      }
    }
    var below = 0.0
    for (sum, chance) in chances.enumerated() {
      below += chance
      if below > level / 2 { return sum == 0 ? nil : sum - 1 }
    }
    return nil
  }
}
