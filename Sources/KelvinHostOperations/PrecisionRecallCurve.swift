package import KelvinGraph

/// What precision and what recall an answer's class has where answers of at least some confidence are believed, measured at
/// some such thresholds (Core ML's class confidence thresholding).
package struct PrecisionRecallCurve: Hashable, Sendable {
  package struct Point: Hashable, Sendable {
    package let threshold: Float
    package let value: Float

    package init(threshold: Float, value: Float) {
      self.threshold = threshold
      self.value = value
    }
  }

  /// By rising threshold.
  package let precision: [Point]
  /// By rising threshold.
  package let recall: [Point]

  /// - Parameters:
  ///   - precision: the share of answers at a threshold that was right, 0…1, in any order.
  ///   - recall: the share of the class that was found, 0…1, in any order.
  ///
  /// Points that are not numbers are left out.
  package init(precision: [Point], recall: [Point]) {
    func sorted(_ points: [Point]) -> [Point] {
      points.filter { !$0.threshold.isNaN && !$0.value.isNaN }.sorted { $0.threshold < $1.threshold }
    }
    self.precision = sorted(precision)
    self.recall = sorted(recall)
  }

  /// The largest threshold at which at least so much is recalled; nil where it is nowhere.
  package func threshold(forRecall least: Float) -> Float? { recall.last { $0.value >= least }?.threshold }

  /// The smallest threshold at which answers are at least so precise; nil where they are nowhere.
  package func threshold(forPrecision least: Float) -> Float? { precision.first { $0.value >= least }?.threshold }

  /// Nil where nothing was measured from there on: nothing would be believed.
  package func precision(at threshold: Float) -> Float? { precision.first { $0.threshold >= threshold }?.value }

  /// 0 where nothing was measured from there on.
  package func recall(at threshold: Float) -> Float { recall.first { $0.threshold >= threshold }?.value ?? 0 }
}

/// The curves of a classifier's classes, in their order. They say something of the answers, and change nothing.
package struct ClassCurves: HostOperation {
  package static let name = "class_curves"
  package let curves: [PrecisionRecallCurve]

  package init(_ curves: [PrecisionRecallCurve]) { self.curves = curves }

  package var inputs: [String] { [] }
  package var outputs: [String] { [] }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] { [] }
}
