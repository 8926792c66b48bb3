import KelvinBasics
import KelvinTracking
public import KelvinVision

/// Smooths the confidences of classes over time. The first class changes only when another one has led for a while, so
/// that it does not flicker.
public struct ClassificationSmoother: Sendable {
  private var smoother: ClassSmoother
  private var names: [String] = []
  private var places: [ExactString: Int] = [:]

  /// Creates a smoother of one video.
  ///
  /// - Parameter parameters: The parameters of the smoothing.
  public init(_ parameters: StreamParameters = StreamParameters()) { smoother = ClassSmoother(parameters.classes) }

  /// Adds the classes of a frame.
  ///
  /// - Parameters:
  ///   - classes: Every class of the model, in any order, with its confidence.
  ///   - time: The time of the frame, later than that of the previous one.
  /// - Returns: The classes with smoothed confidences: the shown class, then the others, the most probable first.
  public mutating func update(
    _ classes: [ClassificationObservation], at time: Duration
  ) -> [ClassificationObservation] {
    if names.isEmpty {
      names = classes.map(\.identifier)
      places = Dictionary(zip(names.exact, names.indices).map { ($0, $1) }) { first, _ in first }
    }
    var values = [Double](repeating: 0, count: names.count)
    for observation in classes {
      guard let place = places[ExactString(observation.identifier)] else { continue }
      values[place] = Double(observation.confidence)
    }
    let shown = smoother.update(values, at: time.inSeconds)
    let smoothed = smoother.probabilities
    let order = smoothed.indices.sorted { left, right in
      (left == shown ? 0 : 1, smoothed[right], left) < (right == shown ? 0 : 1, smoothed[left], right)
    }
    return order.map { ClassificationObservation(identifier: names[$0], confidence: Float(smoothed[$0])) }
  }
}
