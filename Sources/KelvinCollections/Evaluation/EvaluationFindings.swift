import Kelvin
import KelvinEvaluation
import KelvinVision

/// A measure that is computed for each contender.
public struct EvaluationMeasure: Hashable, Sendable {
  /// The unit of a measure.
  public enum Unit: Hashable, Sendable {
    /// A share, 0…1, shown in per cent. Differences are shown in percentage points.
    case share
    /// A plain number, in the unit of the evaluated quantity.
    case number
  }

  /// The name in table headings: `Top-1`.
  public var name: String
  /// The unit of the figures.
  public var unit: Unit
  /// Whether larger figures are better.
  public var isBetterWhenLarger: Bool

  static func share(_ name: String, isBetterWhenLarger: Bool = true) -> EvaluationMeasure {
    EvaluationMeasure(name: name, unit: .share, isBetterWhenLarger: isBetterWhenLarger)
  }

  static func error(_ name: String) -> EvaluationMeasure {
    EvaluationMeasure(name: name, unit: .number, isBetterWhenLarger: false)
  }
}

/// The difference between the figures of two contenders on the same examples.
public struct EvaluationComparison: Hashable, Sendable {
  /// The contender's figure minus the other's; nil where there is nothing to compare.
  public var difference: Double?
  /// The 95 % confidence interval of the difference; nil where there are too few examples.
  public var interval: ClosedRange<Double>?
  /// The probability of a difference at least this large between two equally good models (p-value); nil for measures
  /// without such a test.
  public var probability: Double?
  /// The number of examples that only the contender answered right; nil for answers that are not simply right or wrong.
  public var onlyContender: Int?
  /// The number of examples that only the other answered right.
  public var onlyOther: Int?

  /// Whether the difference is statistically significant.
  public var isDifferent: Bool {
    if let probability { return probability < 0.05 }
    return interval.map { !$0.contains(0) } ?? false
  }

  init(_ pairs: PairedProportions) {
    (difference, interval, probability) = (pairs.difference, pairs.interval, pairs.probability)
    (onlyContender, onlyOther) = (pairs.onlySecond, pairs.onlyFirst)
  }

  /// Compares a figure that is computed over many examples at once, by resampling the same examples for both
  /// (``Bootstrap``).
  ///
  /// - Parameters:
  ///   - count: The number of examples.
  ///   - drawCount: The number of resamples for the interval.
  ///   - figure: The contender's figure for the examples with the given indices; nil where it is undefined.
  ///   - other: The other's figure for the same examples.
  init(
    of count: Int, drawCount: Int = Bootstrap.drawCount, _ figure: ([Int]) -> Double?, against other: ([Int]) -> Double?
  ) {
    func difference(_ drawn: [Int]) -> Double? {
      guard let one = figure(drawn), let another = other(drawn) else { return nil }
      return one - another
    }
    self.difference = difference(Array(0..<count))
    interval = Bootstrap.interval(of: count, drawCount: drawCount, difference)
  }
}

/// A detailed section about a contender on a page.
public enum EvaluationSection: Sendable {
  /// A table with column headings; the first column holds names.
  case table(title: String, columns: [String], rows: [[String]])
  /// Calibration bins: the mean confidence, the share of right answers, and the number of answers.
  case calibration([(confidence: Double, share: Double, count: Int)])
  /// Pairs of the correct and the given answer.
  case scatter(title: String, [(truth: Double, answer: Double)])
}

/// An example that a contender does badly at.
public struct EvaluationMistake: Sendable {
  /// The index in the evaluation's examples.
  public var example: Int
  /// A short description of the correct answer or of the error.
  public var caption: String
  /// The given answers with their figures.
  public var answers: [(name: String, figure: String)]
}
