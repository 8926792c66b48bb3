import KelvinBasics

/// ONNX's linear classifier: the class of the largest score in float32 wins. With two classes and one score, the second
/// class wins if the score is more than 0.
package struct LinearClassifier: RowClassifier {
  package static let name = "linear_classifier"
  package let model: LinearModel
  package let transform: ScoreTransform

  /// Creates the classifier.
  ///
  /// - Precondition: The model does not transform scores.
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
      let scores = model.scores(rows, row).map(\.roundedToSingle)
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
  /// Returns the scores of two classes from one score, as ONNX Runtime computes them. For `logistic` they are the
  /// logistic function of the negative score and of the score. Otherwise they are the given score for the first class
  /// and the score itself; only `probit` transforms them.
  func pair(_ score: Double, first: Double) -> [Double] {
    switch self {
    case .logistic: [KelvinBasics.logistic(-score), KelvinBasics.logistic(score)]
    case .probit: self([1 - score, score])
    case .none, .softmax, .softmaxOfOthers: [first, score]
    }
  }
}

extension Double {
  /// The number rounded to float32, in which ONNX's classifiers compare scores.
  var roundedToSingle: Double { Double(Float(self)) }
}

extension [Double] {
  /// The index of the largest number, the first of equal ones; not-a-number is less than every number.
  var firstLargest: Int {
    var best = 0
    for place in indices where self[best].isNaN || self[place] > self[best] { best = place }
    return best
  }
}
