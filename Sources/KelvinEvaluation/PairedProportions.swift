import Glibc

/// Two ways to answer the same questions, by which of them was right.
public struct PairedProportions: Hashable, Sendable {
  /// Questions that both answered right.
  public var both = 0
  /// Questions that the first alone answered right.
  public var onlyFirst = 0
  /// Questions that the second alone answered right.
  public var onlySecond = 0
  /// Questions that both answered wrong.
  public var neither = 0

  /// Of no questions.
  public init() {}

  /// All questions.
  public var count: Int { both + onlyFirst + onlySecond + neither }

  /// Adds a question, by who answered it right.
  public mutating func add(first: Bool, second: Bool) {
    switch (first, second) {
    case (true, true): both += 1
    case (true, false): onlyFirst += 1
    case (false, true): onlySecond += 1
    case (false, false): neither += 1
    }
  }

  /// The second's share of right answers less the first's; nil of no questions.
  public var difference: Double? { count > 0 ? Double(onlySecond - onlyFirst) / Double(count) : nil }

  /// Of the difference, with 95 % confidence: the tenth of the methods in Newcombe, "Improved confidence intervals for the
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

  /// How far both are right together, corrected for continuity.
  private var correlation: Double {
    let (e, f, g, h) = (Double(both), Double(onlyFirst), Double(onlySecond), Double(neither))
    let margins = (e + f) * (g + h) * (e + g) * (f + h)
    guard margins > 0 else { return 0 }
    let product = e * h - f * g
    let corrected = product > 0 ? max(product - Double(count) / 2, 0) : product
    return corrected / margins.squareRoot()
  }

  /// McNemar's exact test: how likely answers that differ are split at least so unevenly between two that are equally good.
  public var probability: Double {
    let (count, smaller) = (onlyFirst + onlySecond, min(onlyFirst, onlySecond))
    guard onlyFirst != onlySecond else { return 1 }
    func logarithm(_ k: Int) -> Double {
      lgamma(Double(count) + 1) - lgamma(Double(k) + 1) - lgamma(Double(count - k) + 1) - Double(count) * M_LN2
    }
    return min(1, 2 * (0...smaller).reduce(0) { $0 + exp(logarithm($1)) })
  }
}
