public import FoundationEssentials
public import Kelvin

/// Something that a ``VNRequest`` found in an image.
public class VNObservation {
  /// Its own, among all observations.
  public let uuid: UUID
  /// How sure the model is. As the model says it, not clamped to 0…1.
  public let confidence: Float

  init(_ observation: some VisionObservation) { (uuid, confidence) = (observation.uuid, observation.confidence) }

  /// In this generation's form; nil for what only the second one finds.
  static func of(_ observation: any VisionObservation) -> VNObservation? {
    switch observation {
    case let classification as ClassificationObservation: VNClassificationObservation(classification)
    case let object as RecognizedObjectObservation: VNRecognizedObjectObservation(object)
    case let image as PixelBufferObservation: VNPixelBufferObservation(image)
    case let value as CoreMLFeatureValueObservation: VNCoreMLFeatureValueObservation(value)
    default: nil
    }
  }
}

/// A class that an image, or a part of it, may belong to.
public final class VNClassificationObservation: VNObservation {
  private let observation: ClassificationObservation

  init(_ observation: ClassificationObservation) {
    self.observation = observation
    super.init(observation)
  }

  /// The label.
  public var identifier: String { observation.identifier }
  /// Whether the model says what precision and recall the class has: without, the two questions below are answered with no.
  public var hasPrecisionRecallCurve: Bool { observation.hasPrecisionRecallCurve }

  /// As ``ClassificationObservation/hasMinimumPrecision(_:forRecall:)``.
  public func hasMinimumPrecision(_ minimumPrecision: Float, forRecall recall: Float) -> Bool {
    observation.hasMinimumPrecision(minimumPrecision, forRecall: recall)
  }

  /// As ``ClassificationObservation/hasMinimumRecall(_:forPrecision:)``.
  public func hasMinimumRecall(_ minimumRecall: Float, forPrecision precision: Float) -> Bool {
    observation.hasMinimumRecall(minimumRecall, forPrecision: precision)
  }
}

/// An object that a detector found.
public final class VNRecognizedObjectObservation: VNObservation {
  /// Every class the object may belong to, the most probable first.
  public let labels: [VNClassificationObservation]
  /// Where it is, as a share of the whole upright image, from its lower left corner.
  public let boundingBox: NormalizedRect

  init(_ observation: RecognizedObjectObservation) {
    labels = observation.labels.map(VNClassificationObservation.init)
    boundingBox = observation.boundingBox
    super.init(observation)
  }
}

/// An image that a model made.
public final class VNPixelBufferObservation: VNObservation {
  /// The output's name.
  public let featureName: String?
  /// The image.
  public let pixelBuffer: PixelBuffer

  init(_ observation: PixelBufferObservation) {
    (featureName, pixelBuffer) = (observation.featureName, observation.pixelBuffer)
    super.init(observation)
  }
}

/// Any other output of a model.
public final class VNCoreMLFeatureValueObservation: VNObservation {
  /// The output's name.
  public let featureName: String
  /// The output's value.
  public let featureValue: FeatureValue

  init(_ observation: CoreMLFeatureValueObservation) {
    (featureName, featureValue) = (observation.featureName, observation.featureValue)
    super.init(observation)
  }
}
