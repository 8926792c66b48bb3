import KelvinBasics

/// ONNX's linear classifier: the class of the largest score wins. Of two classes with one score that is the second where
/// the score is more than 0.
package struct LinearClassifier: RowClassifier {
  package static let name = "linear_classifier"
  package let model: LinearModel
  package let transform: ScoreTransform

  /// - Precondition: the model leaves scores as they are.
  package init(_ model: LinearModel, _ transform: ScoreTransform) {
    precondition(model.outcome == .scores && model.transform == .none)
    self.model = model
    self.transform = transform
  }

  package var widths: ClosedRange<Int> { model.widths }
  package var scoreCount: Int { max(model.offsets.count, 2) }

  package func classify(_ rows: NumberRows) -> (winners: [Int], scores: [Double]) {
    var (winners, all): ([Int], [Double]) = ([], [])
    for row in 0..<rows.count {
      let scores = model.scores(rows, row)
      if scores.count == 1 {
        winners.append(scores[0] > 0 ? 1 : 0)
        all += transform.pair(scores[0], first: 1 - scores[0])
      } else {
        winners.append(scores.firstLargest)
        all += transform(scores)
      }
    }
    return (winners, all)
  }
}

extension ScoreTransform {
  /// The scores of two classes by what ONNX Runtime makes of one score: the logistic function of it and of its negative,
  /// else the given score for the first class and the score itself, which only `probit` transforms.
  func pair(_ score: Double, first: Double) -> [Double] {
    switch self {
    case .logistic: [KelvinBasics.logistic(-score), KelvinBasics.logistic(score)]
    case .probit: self([1 - score, score])
    case .none, .softmax, .softmaxOfOthers: [first, score]
    }
  }
}

extension [Double] {
  /// The place of the largest number, the first of equal ones; what is not a number is less than any.
  var firstLargest: Int {
    var best = 0
    for place in indices where self[best].isNaN || self[place] > self[best] { best = place }
    return best
  }
}
