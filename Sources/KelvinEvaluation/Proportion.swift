/// How many of some trials came out a way.
public struct Proportion: Hashable, Sendable {
  /// Those that came out the way; at most `trials`.
  public var hits: Int
  /// All of them.
  public var trials: Int

  /// - Precondition: `0 <= hits <= trials`.
  public init(_ hits: Int, of trials: Int) {
    precondition(hits >= 0 && hits <= trials)
    (self.hits, self.trials) = (hits, trials)
  }

  /// 0…1; nil of no trials.
  public var share: Double? { trials > 0 ? Double(hits) / Double(trials) : nil }

  /// The score interval with 95 % confidence (Wilson, "Probable inference", 1927); all of 0…1 of no trials.
  public var interval: ClosedRange<Double> {
    guard let share else { return 0...1 }
    let (n, z) = (Double(trials), Self.quantile)
    let middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    let reach = z / (1 + z * z / n) * (share * (1 - share) / n + z * z / (4 * n * n)).squareRoot()
    // Exact at the ends, where rounding could leave the truth outside.
    return (hits == 0 ? 0 : max(0, middle - reach))...(hits == trials ? 1 : min(1, middle + reach))
  }

  /// Of the normal distribution, at 0.975.
  private static let quantile = 1.959963984540054
}
