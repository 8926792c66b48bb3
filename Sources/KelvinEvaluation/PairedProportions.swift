import Glibc

/// The results of two models on the same questions, counted by which of the models was right.
public struct PairedProportions: Hashable, Sendable {
  /// The number of questions that both answered right.
  public var both = 0
  /// The number of questions that only the first answered right.
  public var onlyFirst = 0
  /// The number of questions that only the second answered right.
  public var onlySecond = 0
  /// The number of questions that both answered wrong.
  public var neither = 0

  /// Creates counts of zero.
  public init() {}

  /// The number of all questions.
  public var count: Int { both + onlyFirst + onlySecond + neither }

  /// Adds a question, with whether each model was right.
  public mutating func add(first: Bool, second: Bool) {
    switch (first, second) {
    case (true, true): both += 1
    case (true, false): onlyFirst += 1
    case (false, true): onlySecond += 1
    case (false, false): neither += 1
    }
  }

  /// The second's share of right answers minus the first's; nil without questions.
  public var difference: Double? { count > 0 ? Double(onlySecond - onlyFirst) / Double(count) : nil }

  /// The 95 % confidence interval of the difference: method 10 in Newcombe, "Improved confidence intervals for the
  /// difference between binomial proportions based on paired data", 1998.
  public var interval: ClosedRange<Double> {
    guard let difference else { return -1...1 }
    let (first, second) = (Proportion(both + onlyFirst, of: count), Proportion(both + onlySecond, of: count))
    let (p, q) = (first.share ?? 0, second.share ?? 0)
    let (a, b) = (first.interval, second.interval)
    let correlation = correlation
    func reach(_ x: Double, _ y: Double) -> Double { max(0, x * x - 2 * correlation * x * y + y * y).squareRoot() }
    let lower = max(-1, difference - reach(q - b.lowerBound, a.upperBound - p))
    return lower...min(1, difference + reach(b.upperBound - q, p - a.lowerBound))
  }

  /// The correlation of the two models' right answers, with continuity correction.
  private var correlation: Double {
    let (e, f, g, h) = (Double(both), Double(onlyFirst), Double(onlySecond), Double(neither))
    let margins = (e + f) * (g + h) * (e + g) * (f + h)
    guard margins > 0 else { return 0 }
    let product = e * h - f * g
    let corrected = product > 0 ? max(product - Double(count) / 2, 0) : product
    return corrected / margins.squareRoot()
  }

  /// The p-value of McNemar's exact test: the probability of a split at least this uneven between two equally good
  /// models.
  public var probability: Double {
    let (count, smaller) = (onlyFirst + onlySecond, min(onlyFirst, onlySecond))
    guard onlyFirst != onlySecond else { return 1 }
    func logarithm(_ k: Int) -> Double {
      lgamma(Double(count) + 1) - lgamma(Double(k) + 1) - lgamma(Double(count - k) + 1) - Double(count) * M_LN2
    }
    return min(1, 2 * (0...smaller).reduce(0) { $0 + exp(logarithm($1)) })
  }
}
