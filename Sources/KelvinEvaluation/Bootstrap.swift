import KelvinBasics

/// How far a figure would go if other examples of the same kind had been drawn: the percentile bootstrap (Efron and
/// Tibshirani, "An introduction to the bootstrap", 1993, 13.3). The same examples give the same interval: what is drawn has a
/// seed.
public enum Bootstrap {
  /// Sets of examples that are drawn.
  public static let drawCount = 2000

  /// With 95 % confidence. A difference between two ways to answer is paired where the figure takes it on the examples drawn.
  ///
  /// - Parameters:
  ///   - count: examples there are; as many are drawn each time, with replacement.
  ///   - drawCount: how often.
  ///   - figure: of examples by their numbers; nil where they have none, and the draw does not count.
  /// - Returns: nil of fewer than two examples, and where half of the draws do not count.
  public static func interval(
    of count: Int, drawCount: Int = drawCount, _ figure: (_ drawn: [Int]) -> Double?
  ) -> ClosedRange<Double>? {
    guard count > 1 else { return nil }
    var generator = SeededGenerator(seed: 1)
    var drawn = [Int](repeating: 0, count: count)
    var figures: [Double] = []
    for _ in 0..<drawCount {
      for place in drawn.indices { drawn[place] = generator.index(below: count) }
      if let figure = figure(drawn), figure.isFinite { figures.append(figure) }
    }
    guard figures.count * 2 > drawCount else { return nil }
    figures.sort()
    func quantile(_ share: Double) -> Double {
      let at = share * Double(figures.count - 1)
      let below = Int(at)
      let above = min(below + 1, figures.count - 1)
      return figures[below] + (figures[above] - figures[below]) * (at - Double(below))
    }
    return quantile(0.025)...quantile(0.975)
  }
}
