import KelvinHostOperations

/// Which classes a model is sure enough of.
public struct ConfidenceFilter: Hashable, Sendable {
  /// What the model's confidence must be at least.
  public var minimumConfidence: Float
  /// The share of a class's answers, 0…1, that was right when the model was evaluated, from the smallest confidence on that
  /// reaches it; with `minimumRecall`, at the confidence that reaches that.
  public var minimumPrecision: Float?
  /// The share of a class's images, 0…1, that was found when the model was evaluated, from the largest confidence on that
  /// reaches it.
  public var minimumRecall: Float?

  /// A filter that keeps every class.
  public init(
    minimumConfidence: Float = 0, minimumPrecision: Float? = nil, minimumRecall: Float? = nil
  ) {
    self.minimumConfidence = minimumConfidence
    self.minimumPrecision = minimumPrecision
    self.minimumRecall = minimumRecall
  }

  /// Whether classes are chosen by their curves of precision and recall: those without one are left out then.
  public var needsCurves: Bool { minimumPrecision != nil || minimumRecall != nil }

  /// Whether a class is kept. With both limits, as
  /// ``ClassificationObservation/hasMinimumPrecision(_:forRecall:)`` says.
  public func keeps(_ observation: ClassificationObservation) -> Bool {
    guard let least = limits.least(by: observation.curve) else { return false }
    return observation.confidence >= least
  }

  var limits: LabelLimits {
    LabelLimits(confidence: minimumConfidence, precision: minimumPrecision, recall: minimumRecall)
  }
}
