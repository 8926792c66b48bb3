package import KelvinHostOperations

extension PrecisionRecallCurve {
  /// The largest number of points that a curve keeps, apart from the last.
  private static let pointLimit = 100

  /// Computes the precision and recall of a class at thresholds of its confidence, regardless of the other classes.
  ///
  /// - Parameter images: The classified images.
  /// - Returns: nil where no image is of the class, or the class was never an answer.
  package init?(of label: Int, in images: [ClassifiedImage]) {
    let count = images.count { $0.truth == label }
    var answers: [(confidence: Float, isRight: Bool)] = []
    for image in images {
      guard let answer = image.answers.first(where: { $0.label == label }) else { continue }
      answers.append((answer.confidence, image.truth == label))
    }
    guard count > 0, !answers.isEmpty else { return nil }
    answers.sort { $0.confidence > $1.confidence }
    var points: [(threshold: Float, precision: Float, recall: Float)] = []
    var hits = 0
    for (index, answer) in answers.enumerated() {
      hits += answer.isRight ? 1 : 0
      // A threshold includes all answers of the same confidence.
      guard index + 1 == answers.count || answers[index + 1].confidence < answer.confidence else { continue }
      points.append((answer.confidence, Float(hits) / Float(index + 1), Float(hits) / Float(count)))
    }
    let step = max(1, (points.count + Self.pointLimit - 1) / Self.pointLimit)
    let kept = points.indices.filter { $0 % step == 0 || $0 == points.count - 1 }.map { points[$0] }
    self.init(
      precision: kept.map { Point(threshold: $0.threshold, value: $0.precision) },
      recall: kept.map { Point(threshold: $0.threshold, value: $0.recall) })
  }
}
