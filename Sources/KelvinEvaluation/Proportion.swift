/// A number of successes among a number of trials.
public struct Proportion: Hashable, Sendable {
  /// The number of successes; at most `trials`.
  public var hits: Int
  /// The number of trials.
  public var trials: Int

  /// Creates a proportion.
  ///
  /// - Precondition: `0 <= hits <= trials`.
  public init(_ hits: Int, of trials: Int) {
    precondition(hits >= 0 && hits <= trials)
    (self.hits, self.trials) = (hits, trials)
  }

  /// The share of successes, 0…1; nil without trials.
  public var share: Double? { trials > 0 ? Double(hits) / Double(trials) : nil }

  /// The 95 % score interval (Wilson, "Probable inference", 1927); 0…1 without trials.
  public var interval: ClosedRange<Double> {
    guard let share else { return 0...1 }
    let (n, z) = (Double(trials), Self.quantile)
    let middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    let reach = z / (1 + z * z / n) * (share * (1 - share) / n + z * z / (4 * n * n)).squareRoot()
    // The bounds are exact for no and for only successes, where rounding errors could exclude the true value.
    return (hits == 0 ? 0 : max(0, middle - reach))...(hits == trials ? 1 : min(1, middle + reach))
  }

  /// The 0.975 quantile of the standard normal distribution.
  private static let quantile = 1.959963984540054
}
