/// How far numbers are from those that are right, in their own unit.
public struct RegressionErrors: Hashable, Sendable {
  /// Of numbers that were compared.
  public let count: Int
  /// The mean of the distances.
  public let meanAbsolute: Double
  /// The root of the mean of their squares.
  public let rootMeanSquare: Double
  /// The greatest of the distances.
  public let largest: Double
  /// The share of the truths' variance that the answers explain (R², at most 1); nil where the truths are all the same.
  public let determination: Double?

  /// Nil of no pairs.
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
