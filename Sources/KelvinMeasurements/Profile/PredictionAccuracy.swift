/// The errors of predicted times of whole inferences, compared with measured ones.
package struct PredictionAccuracy: Sendable, Hashable, Codable {
  /// The median of `|predicted / measured − 1|`.
  package var median: Double
  package var largest: Double
  /// The mean of `predicted / measured − 1`: above zero when predictions are too high.
  package var bias: Double
  package var plans: Int

  package init(median: Double, largest: Double, bias: Double, plans: Int) {
    self.median = median
    self.largest = largest
    self.bias = bias
    self.plans = plans
  }

  /// - Parameter errors: `predicted / measured − 1` of each plan.
  /// - Returns: nil when `errors` is empty.
  package init?(_ errors: [Double]) {
    guard !errors.isEmpty else { return nil }
    let sizes = errors.map(abs).sorted()
    self.init(
      median: (sizes[(sizes.count - 1) / 2] + sizes[sizes.count / 2]) / 2, largest: sizes[sizes.count - 1],
      bias: errors.reduce(0, +) / Double(errors.count), plans: errors.count)
  }
}

/// The errors of one model's predictions, for plans on one device and for plans that mix devices. Each mixed plan is
/// predicted from costs that were fitted without it.
package struct ModelAccuracy: Sendable, Hashable, Codable {
  package var single: PredictionAccuracy?
  package var mixed: PredictionAccuracy?

  package init(single: PredictionAccuracy? = nil, mixed: PredictionAccuracy? = nil) {
    self.single = single
    self.mixed = mixed
  }
}
