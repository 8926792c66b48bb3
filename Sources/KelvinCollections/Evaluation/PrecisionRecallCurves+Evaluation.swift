import KelvinBasics
import KelvinEvaluation
import KelvinHostOperations
public import KelvinVision

extension PrecisionRecallCurves {
  /// Creates curves from an evaluation, for every class of its data set that occurred as an answer.
  ///
  /// - Parameters:
  ///   - result: A result of `evaluation`.
  ///   - evaluation: An evaluation of classifiers on labelled images.
  public init(of result: ClassificationEvaluation.Result, in evaluation: ClassificationEvaluation) {
    var curves: [ExactString: PrecisionRecallCurve] = [:]
    for label in result.scores.classes.map(\.label) {
      let name = result.names[label] ?? evaluation.labels[label]
      curves[ExactString(name)] = PrecisionRecallCurve(of: label, in: result.images)
    }
    self.init(curves)
  }
}
