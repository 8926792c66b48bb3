import KelvinGraph
import KelvinHostOperations
import KelvinImport

extension ClassicalModel {
  /// Reads a model that gives the precision and recall curves of the preceding classifier's classes. The features of
  /// that classifier are the model's inputs.
  func classConfidenceThresholding() throws(FormatError) -> HostStage {
    typealias Fields = ClassicalSchema.PrecisionRecallCurve
    var curves: [PrecisionRecallCurve] = []
    for curve in try parameters.messages(ClassicalSchema.ClassConfidenceThresholding.precisionRecallCurves) {
      let place = "precisionRecallCurves[\(curves.count)]"
      let precision = try points(curve, Fields.precisionValues, Fields.precisionConfidenceThresholds, place)
      let recall = try points(curve, Fields.recallValues, Fields.recallConfidenceThresholds, place)
      curves.append(PrecisionRecallCurve(precision: precision, recall: recall))
    }
    return stage(step: ClassCurves(curves))
  }

  private func points(
    _ curve: LayerParameters, _ values: Int, _ thresholds: Int, _ place: String
  ) throws(FormatError) -> [PrecisionRecallCurve.Point] {
    let limit = 1 << 20
    let vector = ClassicalSchema.FloatVector.vector
    let values = try curve.message(values)?.numbers(vector, limit: limit) ?? []
    let thresholds = try curve.message(thresholds)?.numbers(vector, limit: limit) ?? []
    guard values.count == thresholds.count else {
      throw curve.message.malformed(place, "it has \(values.count) values for \(thresholds.count) thresholds")
    }
    return zip(thresholds, values).map { PrecisionRecallCurve.Point(threshold: $0, value: $1) }
  }
}
