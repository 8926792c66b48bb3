/// A plan's predicted time and its measured time without node timers, from rounds that alternate with those behind the
/// prediction. Times are in seconds.
package struct PlanCheck: Sendable {
  /// A device identifier such as `cpu`, or `best plan`.
  package var label: String
  package var nodesByDevice: [String: Int]
  package var predicted: Double
  package var measured: Double
  package var interval: ConfidenceInterval
  package var samples: Int
  /// False when too many rounds were disturbed to leave them out.
  package var isUndisturbed: Bool

  package init(
    label: String, nodesByDevice: [String: Int] = [:], predicted: Double, measured: Double,
    interval: ConfidenceInterval, samples: Int, isUndisturbed: Bool
  ) {
    self.label = label
    self.nodesByDevice = nodesByDevice
    self.predicted = predicted
    self.measured = measured
    self.interval = interval
    self.samples = samples
    self.isUndisturbed = isUndisturbed
  }

  /// The relative error of the prediction: 0.1 is ten per cent too much.
  package var error: Double { measured > 0 ? predicted / measured - 1 : 0 }
}
