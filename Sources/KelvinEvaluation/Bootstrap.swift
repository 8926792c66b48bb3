import KelvinBasics

/// Confidence intervals by the percentile bootstrap (Efron and Tibshirani, "An introduction to the bootstrap", 1993,
/// 13.3). The resamples are drawn with a fixed seed, so the same examples give the same interval.
public enum Bootstrap {
  /// The default number of resamples.
  public static let drawCount = 2000

  /// Returns the 95 % confidence interval of a figure. For a paired difference, `figure` computes the difference on the
  /// drawn examples.
  ///
  /// - Parameters:
  ///   - count: The number of examples. Each resample draws as many, with replacement.
  ///   - drawCount: The number of resamples.
  ///   - figure: Returns the figure for the examples with the given indices; nil where it is undefined, and the
  ///     resample is discarded.
  /// - Returns: The interval; nil for fewer than two examples, and where at least half of the resamples are discarded.
  public static func interval(
    of count: Int, drawCount: Int = drawCount, _ figure: (_ drawn: [Int]) -> Double?
  ) -> ClosedRange<Double>? {
    guard count > 1 else { return nil }
    var generator = SeededGenerator(seed: 1)
    var drawn = [Int](repeating: 0, count: count)
    var figures: [Double] = []
    for _ in 0..<drawCount {
      for index in drawn.indices { drawn[index] = generator.index(below: count) }
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
