/// How sure a model must have been of a label for it to count.
package struct LabelLimits: Hashable, Sendable {
  /// 0…1.
  package var confidence: Float
  /// The share of such answers that must be right, by the class's curve, 0…1.
  package var precision: Float?
  /// The share of the class's images that must be found, by the class's curve, 0…1.
  package var recall: Float?

  package init(confidence: Float = 0, precision: Float? = nil, recall: Float? = nil) {
    self.confidence = confidence
    self.precision = precision
    self.recall = recall
  }

  package var needsCurve: Bool { precision != nil || recall != nil }

  /// The least confidence with which a label of a class counts; nil where it never does.
  ///
  /// With both limits, as `hasMinimumPrecision(_:forRecall:)`; precision alone goes by the smallest threshold that
  /// reaches it, recall alone by the largest.
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
