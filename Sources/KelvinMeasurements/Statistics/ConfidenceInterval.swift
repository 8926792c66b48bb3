/// A closed interval and the share of repetitions in which it contains the true value.
package struct ConfidenceInterval: Sendable, Hashable, Codable {
  package var lower: Double
  package var upper: Double
  /// The actual coverage, 0...1. Below the nominal 0.95 when there are too few samples.
  package var confidence: Double

  package init(lower: Double, upper: Double, confidence: Double) {
    self.lower = lower
    self.upper = upper
    self.confidence = confidence
  }

  package func contains(_ value: Double) -> Bool { lower <= value && value <= upper }
}
