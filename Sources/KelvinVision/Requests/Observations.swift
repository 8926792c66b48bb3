public import FoundationEssentials
public import Kelvin
import KelvinHostOperations

/// Something that a request found in an image.
public protocol VisionObservation: Sendable {
  /// Its own among all observations, and that of its copies. Two that are equal in what was found are equal whatever theirs are.
  var uuid: UUID { get }
  /// How sure the model is. As the model says it, not clamped to 0…1.
  var confidence: Float { get }
}

/// A class that an image, or a part of it, may belong to.
public struct ClassificationObservation: VisionObservation, Hashable {
  /// The label.
  public let identifier: String
  public let confidence: Float
  public var uuid: UUID { identity.uuid }
  let curve: PrecisionRecallCurve?
  private let identity = ObservationIdentity()

  /// A class and how sure it is.
  public init(identifier: String, confidence: Float) {
    self.init(identifier: identifier, confidence: confidence, curve: nil)
  }

  init(identifier: String, confidence: Float, curve: PrecisionRecallCurve?) {
    self.identifier = identifier
    self.confidence = confidence
    self.curve = curve
  }

  /// Whether the model says what precision and recall the class has: without, the two questions below are answered with no.
  public var hasPrecisionRecallCurve: Bool { curve != nil }

  /// Whether the model is sure enough for a share of the class's images to be found, and such answers are precise enough.
  ///
  /// The threshold is the largest at which at least the share `recall` was found when the model was evaluated.
  ///
  /// - Parameters:
  ///   - minimumPrecision: the share of such answers that was right, 0…1.
  ///   - recall: 0…1; a large one keeps many observations.
  public func hasMinimumPrecision(_ minimumPrecision: Float, forRecall recall: Float) -> Bool {
    guard let curve, let threshold = curve.threshold(forRecall: recall), confidence >= threshold,
      let precision = curve.precision(at: threshold)
    else { return false }
    return precision >= minimumPrecision
  }

  /// Whether the model is sure enough for such answers to be precise, and enough of the class's images are found so.
  ///
  /// The threshold is the smallest at which at least the share `precision` was right when the model was evaluated.
  ///
  /// - Parameters:
  ///   - minimumRecall: the share of the class's images that was found, 0…1.
  ///   - precision: 0…1; a large one keeps few observations.
  public func hasMinimumRecall(_ minimumRecall: Float, forPrecision precision: Float) -> Bool {
    guard let curve, let threshold = curve.threshold(forPrecision: precision), confidence >= threshold else {
      return false
    }
    return curve.recall(at: threshold) >= minimumRecall
  }
}

/// An object that a detector found.
public struct RecognizedObjectObservation: VisionObservation, Hashable {
  /// Every class the object may belong to, the most probable first.
  public let labels: [ClassificationObservation]
  /// Where it is, as a share of the whole upright image, whatever part of it the model saw and however that was
  /// brought to the model's size. A box may reach over the image's edge.
  public let boundingBox: NormalizedRect
  /// That of the first label.
  public let confidence: Float
  public var uuid: UUID { identity.uuid }
  private let identity = ObservationIdentity()

  /// An object with its classes and place.
  ///
  /// - Parameters:
  ///   - labels: its classes, in any order.
  ///   - boundingBox: where it is.
  public init(labels: [ClassificationObservation], boundingBox: NormalizedRect) {
    self.labels = labels.sortedByConfidence()
    self.boundingBox = boundingBox
    confidence = self.labels.first?.confidence ?? 0
  }
}

/// An image that a model made.
public struct PixelBufferObservation: VisionObservation, Hashable {
  /// The output's name.
  public let featureName: String
  /// The image.
  public let pixelBuffer: PixelBuffer
  /// Always 1.
  public var confidence: Float { 1 }
  public var uuid: UUID { identity.uuid }
  private let identity = ObservationIdentity()

  /// An image of an output.
  public init(featureName: String, pixelBuffer: PixelBuffer) {
    self.featureName = featureName
    self.pixelBuffer = pixelBuffer
  }
}

/// Any other output of a model.
public struct CoreMLFeatureValueObservation: VisionObservation, Hashable {
  /// The output's name.
  public let featureName: String
  /// The output's value.
  public let featureValue: FeatureValue
  /// Always 1.
  public var confidence: Float { 1 }
  public var uuid: UUID { identity.uuid }
  private let identity = ObservationIdentity()

  /// A value of an output.
  public init(featureName: String, featureValue: FeatureValue) {
    self.featureName = featureName
    self.featureValue = featureValue
  }
}

extension Sequence where Element == any VisionObservation {
  /// Those of which the model is at least this sure, in their order. What is not a number is left out.
  public func filter(minimumConfidence: Float) -> [any VisionObservation] {
    filter { $0.confidence >= minimumConfidence }
  }

  /// The `count` of which the model is most sure, the surest first.
  public func top(_ count: Int) -> [any VisionObservation] { Array(sortedByConfidence().prefix(Swift.max(count, 0))) }

  /// The observations of one type, in their order.
  public func of<Observation: VisionObservation>(_ type: Observation.Type) -> [Observation] {
    compactMap { $0 as? Observation }
  }

  func sortedByConfidence() -> [any VisionObservation] { sorted { precedes($0.confidence, $1.confidence) } }
}

extension Sequence where Element: VisionObservation {
  /// Those of which the model is at least this sure, in their order. What is not a number is left out.
  public func filter(minimumConfidence: Float) -> [Element] { filter { $0.confidence >= minimumConfidence } }

  /// The `count` of which the model is most sure, the surest first.
  public func top(_ count: Int) -> [Element] {
    Array(sorted { precedes($0.confidence, $1.confidence) }.prefix(Swift.max(count, 0)))
  }
}

extension Sequence where Element == ClassificationObservation {
  /// The most probable first; equally probable ones by their labels.
  func sortedByConfidence() -> [ClassificationObservation] {
    sorted {
      $0.confidence == $1.confidence || $0.confidence.isNaN && $1.confidence.isNaN
        ? $0.identifier < $1.identifier : precedes($0.confidence, $1.confidence)
    }
  }
}

/// Whether a confidence stands before another one; what is not a number comes last.
private func precedes(_ a: Float, _ b: Float) -> Bool { a > b || (b.isNaN && !a.isNaN) }
