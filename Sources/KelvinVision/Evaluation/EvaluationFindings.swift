#if Collections
import KelvinEvaluation

/// A number that is reckoned of a contender.
public struct EvaluationMeasure: Hashable, Sendable {
  /// What a number is of.
  public enum Unit: Hashable, Sendable {
    /// 0…1, shown in per cent; differences are points.
    case share
    /// As it is, in the unit of what is judged.
    case number
  }

  /// As a table's heading has it: `Top-1`.
  public var name: String
  /// What numbers are of.
  public var unit: Unit
  /// Whether more is better.
  public var isBetterWhenLarger: Bool

  static func share(_ name: String, isBetterWhenLarger: Bool = true) -> EvaluationMeasure {
    EvaluationMeasure(name: name, unit: .share, isBetterWhenLarger: isBetterWhenLarger)
  }

  static func error(_ name: String) -> EvaluationMeasure {
    EvaluationMeasure(name: name, unit: .number, isBetterWhenLarger: false)
  }
}

/// How a contender's figure differs from another's on the same examples.
public struct EvaluationComparison: Hashable, Sendable {
  /// The contender's figure less the other's; nil where there is nothing to compare.
  public var difference: Double?
  /// Of the difference, with 95 % confidence; nil where too few examples tell.
  public var interval: ClosedRange<Double>?
  /// How likely a difference so large is between two that are equally good, where there is a test that says so.
  public var probability: Double?
  /// Of answers that are right or wrong: examples that the contender alone answered right.
  public var onlyContender: Int?
  /// Those that the other alone answered right.
  public var onlyOther: Int?

  /// Whether the examples tell the two apart.
  public var isDifferent: Bool {
    if let probability { return probability < 0.05 }
    return interval.map { !$0.contains(0) } ?? false
  }

  init(_ pairs: PairedProportions) {
    (difference, interval, probability) = (pairs.difference, pairs.interval, pairs.probability)
    (onlyContender, onlyOther) = (pairs.onlySecond, pairs.onlyFirst)
  }

  /// Of a figure that is reckoned of many examples together, both on the same ones (``Bootstrap``).
  ///
  /// - Parameters:
  ///   - count: examples there are.
  ///   - drawCount: how often others are drawn for the interval.
  ///   - figure: the contender's on examples by their numbers; nil where they have none.
  ///   - other: the other's.
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

/// What a page says of a contender at length.
public enum EvaluationSection: Sendable {
  /// Rows below a line of headings; the first column is of names.
  case table(title: String, columns: [String], rows: [[String]])
  /// Shares of right answers by how much they were believed, and how many those are.
  case calibration([(confidence: Double, share: Double, count: Int)])
  /// Answers by what would be right.
  case scatter(title: String, [(truth: Double, answer: Double)])
}

/// An example that a contender does badly at.
public struct EvaluationMistake: Sendable {
  /// Its place in the evaluation's examples.
  public var example: Int
  /// What would be right, or how wrong it is, in a few words.
  public var caption: String
  /// What was answered, with figures.
  public var answers: [(name: String, figure: String)]
}
#endif
