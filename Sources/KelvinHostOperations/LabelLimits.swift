/// The minimum certainty of a prediction for a label to be reported.
package struct LabelLimits: Hashable, Sendable {
  /// The minimum confidence, 0…1.
  package var confidence: Float
  /// The minimum precision of such predictions by the class's curve, 0…1.
  package var precision: Float?
  /// The minimum recall of the class by its curve, 0…1.
  package var recall: Float?

  package init(confidence: Float = 0, precision: Float? = nil, recall: Float? = nil) {
    self.confidence = confidence
    self.precision = precision
    self.recall = recall
  }

  package var needsCurve: Bool { precision != nil || recall != nil }

  /// Returns the least confidence with which a label of a class is reported; nil if it is never reported.
  ///
  /// Both limits together follow `hasMinimumPrecision(_:forRecall:)`. Precision alone uses the smallest threshold that
  /// reaches it, recall alone the largest.
  package func least(by curve: PrecisionRecallCurve?) -> Float? {
    guard needsCurve else { return confidence }
    guard let curve else { return nil }
    let threshold: Float?
    if let recall {
      threshold = curve.threshold(forRecall: recall)
      if let precision, threshold.flatMap({ curve.precision(at: $0) }) ?? -1 < precision { return nil }
    } else {
      threshold = precision.flatMap { curve.threshold(forPrecision: $0) }
    }
    return threshold.map { max($0, confidence) }
  }
}
