/// How far predictions of whole inferences were from what the same plans took, where both were measured.
package struct PredictionAccuracy: Sendable, Hashable, Codable {
  /// Of `|predicted / measured − 1|`.
  package var median: Double
  package var largest: Double
  /// Mean of `predicted / measured − 1`: above zero where predictions are too high.
  package var bias: Double
  package var plans: Int

  package init(median: Double, largest: Double, bias: Double, plans: Int) {
    self.median = median
    self.largest = largest
    self.bias = bias
    self.plans = plans
  }

  /// - Parameter errors: `predicted / measured − 1` of each plan.
  /// - Returns: nil where there are none.
  package init?(_ errors: [Double]) {
    guard !errors.isEmpty else { return nil }
    let sizes = errors.map(abs).sorted()
    self.init(
      median: (sizes[(sizes.count - 1) / 2] + sizes[sizes.count / 2]) / 2, largest: sizes[sizes.count - 1],
      bias: errors.reduce(0, +) / Double(errors.count), plans: errors.count)
  }
}

/// How far predictions of one model were off: of plans on one device, and of plans that mix devices, each mix predicted
/// from costs to which the mix itself had not been fitted.
package struct ModelAccuracy: Sendable, Hashable, Codable {
  package var single: PredictionAccuracy?
  package var mixed: PredictionAccuracy?

  package init(single: PredictionAccuracy? = nil, mixed: PredictionAccuracy? = nil) {
    self.single = single
    self.mixed = mixed
  }
}
