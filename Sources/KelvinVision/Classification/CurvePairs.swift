import KelvinHostOperations

/// The curve of a class in documents: its points as pairs of a confidence and a share.
struct CurvePairs: Codable {
  private let precision: [[Float]]
  private let recall: [[Float]]

  init(_ curve: PrecisionRecallCurve) {
    func pairs(_ points: [PrecisionRecallCurve.Point]) -> [[Float]] { points.map { [$0.threshold, $0.value] } }
    (precision, recall) = (pairs(curve.precision), pairs(curve.recall))
  }

  /// Returns the curve.
  ///
  /// - Throws: the error that `refusal` makes of an array of numbers that is not a point.
  func curve<Failure: Error>(refusal: ([Float]) -> Failure) throws(Failure) -> PrecisionRecallCurve {
    func points(_ values: [[Float]]) throws(Failure) -> [PrecisionRecallCurve.Point] {
      var points: [PrecisionRecallCurve.Point] = []
      for value in values {
        guard value.count == 2, value[0].isFinite, (0...1).contains(value[1]) else { throw refusal(value) }
        points.append(PrecisionRecallCurve.Point(threshold: value[0], value: value[1]))
      }
      return points
    }
    return PrecisionRecallCurve(precision: try points(precision), recall: try points(recall))
  }
}
