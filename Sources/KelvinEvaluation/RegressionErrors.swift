/// The errors of predicted numbers, in the numbers' own unit.
public struct RegressionErrors: Hashable, Sendable {
  /// The number of compared pairs.
  public let count: Int
  /// The mean absolute error.
  public let meanAbsolute: Double
  /// The root mean square error.
  public let rootMeanSquare: Double
  /// The largest absolute error.
  public let largest: Double
  /// The coefficient of determination, R², at most 1; nil where all true values are equal.
  public let determination: Double?

  /// Computes the errors; nil without pairs.
  public init?(_ pairs: [(truth: Double, answer: Double)]) {
    guard !pairs.isEmpty else { return nil }
    count = pairs.count
    let errors = pairs.map { abs($0.answer - $0.truth) }
    let squares = errors.reduce(0) { $0 + $1 * $1 }
    meanAbsolute = errors.reduce(0, +) / Double(count)
    rootMeanSquare = (squares / Double(count)).squareRoot()
    largest = errors.max() ?? 0
    let mean = pairs.reduce(0) { $0 + $1.truth } / Double(count)
    let spread = pairs.reduce(0) { $0 + ($1.truth - mean) * ($1.truth - mean) }
    determination = spread > 0 ? 1 - squares / spread : nil
  }
}
