/// The scores of the targets of trees.
package struct TreeScores: RowFunction {
  package static let name = "tree_ensemble"

  /// The conversion of the scores before or after they are transformed.
  package enum Outcome: Hashable, Sendable {
    case scores
    /// The only score, transformed, is the probability of the second of two classes.
    case second
    /// A score of 0 is prepended.
    case reference
  }

  package let ensemble: TreeEnsemble
  package let transform: ScoreTransform
  package let outcome: Outcome

  /// Creates the function.
  ///
  /// - Precondition: With `second` the trees have one target.
  package init(_ ensemble: TreeEnsemble, _ transform: ScoreTransform = .none, outcome: Outcome = .scores) {
    precondition(outcome != .second || ensemble.targetCount == 1)
    self.ensemble = ensemble
    self.transform = transform
    self.outcome = outcome
  }

  package var widths: ClosedRange<Int> { ensemble.widths }
  package func resultCount(of width: Int) -> Int { ensemble.targetCount + (outcome == .scores ? 0 : 1) }

  package func results(_ rows: NumberRows) -> [Double] {
    let values = ensemble.evaluate(rows).values
    guard outcome != .scores || transform != .none else { return values }
    let count = ensemble.targetCount
    return (0..<rows.count).flatMap { row -> [Double] in
      let scores = Array(values[row * count..<(row + 1) * count])
      switch outcome {
      case .scores: return transform(scores)
      case .reference: return transform([0] + scores)
      case .second:
        let second = transform(scores)[0]
        return [1 - second, second]
      }
    }
  }
}
