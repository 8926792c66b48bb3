package import KelvinGraph

/// The precision and recall of a class at several confidence thresholds: only predictions of at least the threshold
/// count (Core ML's class confidence thresholding).
package struct PrecisionRecallCurve: Hashable, Sendable {
  package struct Point: Hashable, Sendable {
    package let threshold: Float
    package let value: Float

    package init(threshold: Float, value: Float) {
      self.threshold = threshold
      self.value = value
    }
  }

  /// The precision at thresholds in ascending order.
  package let precision: [Point]
  /// The recall at thresholds in ascending order.
  package let recall: [Point]

  /// Creates a curve; points that are not-a-number are removed.
  ///
  /// - Parameters:
  ///   - precision: The fraction of correct predictions at each threshold, 0…1, in any order.
  ///   - recall: The fraction of the class that is found at each threshold, 0…1, in any order.
  package init(precision: [Point], recall: [Point]) {
    func sorted(_ points: [Point]) -> [Point] {
      points.filter { !$0.threshold.isNaN && !$0.value.isNaN }.sorted { $0.threshold < $1.threshold }
    }
    self.precision = sorted(precision)
    self.recall = sorted(recall)
  }

  /// Returns the largest threshold with at least the given recall, or nil if there is none.
  package func threshold(forRecall least: Float) -> Float? { recall.last { $0.value >= least }?.threshold }

  /// Returns the smallest threshold with at least the given precision, or nil if there is none.
  package func threshold(forPrecision least: Float) -> Float? { precision.first { $0.value >= least }?.threshold }

  /// Returns the precision at a threshold; nil if it is above all points of the curve.
  package func precision(at threshold: Float) -> Float? { precision.first { $0.threshold >= threshold }?.value }

  /// Returns the recall at a threshold; 0 if it is above all points of the curve.
  package func recall(at threshold: Float) -> Float { recall.first { $0.threshold >= threshold }?.value ?? 0 }
}

/// The curves of a classifier's classes, in their order. The operation describes predictions and does not change them.
package struct ClassCurves: HostOperation {
  package static let name = "class_curves"
  package let curves: [PrecisionRecallCurve]

  package init(_ curves: [PrecisionRecallCurve]) { self.curves = curves }

  package var inputs: [String] { [] }
  package var outputs: [String] { [] }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] { [] }
}
