package import KelvinHostOperations

/// A filter of classes by the model's confidence.
public struct ConfidenceFilter: Hashable, Sendable {
  /// The smallest confidence.
  public var minimumConfidence: Float
  /// The smallest precision, 0…1: the share of a class's answers that were right in the evaluation. The filter uses the
  /// smallest confidence that reaches it. With `minimumRecall` set too, the precision must be reached at the confidence
  /// for that recall.
  public var minimumPrecision: Float?
  /// The smallest recall, 0…1: the share of a class's images that were found in the evaluation. The filter uses the
  /// largest confidence that reaches it.
  public var minimumRecall: Float?

  /// Creates a filter. Without arguments it keeps every class.
  public init(
    minimumConfidence: Float = 0, minimumPrecision: Float? = nil, minimumRecall: Float? = nil
  ) {
    self.minimumConfidence = minimumConfidence
    self.minimumPrecision = minimumPrecision
    self.minimumRecall = minimumRecall
  }

  /// Whether the filter uses precision and recall curves. Classes without a curve are then left out.
  public var needsCurves: Bool { minimumPrecision != nil || minimumRecall != nil }

  /// Returns whether a class is kept. With both limits set, the rule is that of
  /// ``ClassificationObservation/hasMinimumPrecision(_:forRecall:)``.
  public func keeps(_ observation: ClassificationObservation) -> Bool {
    let curve = needsCurves ? observation.knownCurve : observation.curve
    guard let least = limits.least(by: curve) else { return false }
    return observation.confidence >= least
  }

  package var limits: LabelLimits {
    LabelLimits(confidence: minimumConfidence, precision: minimumPrecision, recall: minimumRecall)
  }
}
