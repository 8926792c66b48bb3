/// ONNX's classifier of trees.
package struct TreeClassifier: RowClassifier {
  package static let name = "tree_classifier"

  /// The conversion of votes to scores.
  package enum Rule: Hashable, Sendable {
    /// Each class has its own votes; the largest score wins.
    case each
    /// With two classes, all votes are for one of them with the score `s`. The score of the other is `1 - s`, or `-s`
    /// with `isSigned`. The second class wins if `s` is more than 0.5, or with `isSigned` more than 0.
    case one(isSigned: Bool)
    /// Like `one`, but all votes are for the second class, and the first has only the base value.
    case second(isSigned: Bool)
  }

  package let ensemble: TreeEnsemble
  package let rule: Rule
  package let transform: ScoreTransform
  /// Whether a class without votes may win.
  package let hasBase: Bool
  /// Whether scores are compared in double precision; otherwise they are rounded to float32 before.
  package let isDouble: Bool

  /// Creates the classifier.
  ///
  /// - Precondition: The trees have one target with the rule `one`, and two with `second`.
  package init(
    _ ensemble: TreeEnsemble, _ rule: Rule, _ transform: ScoreTransform, hasBase: Bool, isDouble: Bool = false
  ) {
    self.ensemble = ensemble
    self.rule = rule
    self.transform = transform
    self.hasBase = hasBase
    self.isDouble = isDouble
  }

  package var widths: ClosedRange<Int> { ensemble.widths }
  package var scoreCount: Int { if case .one = rule { 2 } else { ensemble.targetCount } }

  package func classify(_ rows: NumberRows) -> (winners: [Int], scores: [Double]) {
    let (values, isVoted) = ensemble.evaluate(rows)
    let count = ensemble.targetCount
    var (winners, scores): ([Int], [Double]) = ([], [])
    for row in 0..<rows.count {
      let exact = values[row * count..<(row + 1) * count]
      let own = isDouble ? Array(exact) : exact.map(\.roundedToSingle)
      switch rule {
      case .each:
        var best: Int?
        for place in own.indices where hasBase || isVoted[row * count + place] {
          if own[place] > best.map({ own[$0] }) ?? -.infinity || best == nil { best = place }
        }
        winners.append(best ?? 0)
        scores += transform(own)
      case .one(let isSigned):
        winners.append(own[0] > (isSigned ? 0 : 0.5) ? 1 : 0)
        scores += transform.pair(own[0], first: isSigned ? -own[0] : 1 - own[0])
      case .second(let isSigned):
        winners.append(own[1] > (isSigned ? 0 : 0.5) ? 1 : 0)
        scores += transform(own)
      }
    }
    return (winners, scores)
  }
}
