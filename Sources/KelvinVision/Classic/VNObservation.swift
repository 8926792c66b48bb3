public import FoundationEssentials
public import Kelvin

/// A result that a ``VNRequest`` found in an image.
public class VNObservation {
  /// The identifier of the observation, unique among all observations.
  public let uuid: UUID
  /// The confidence as the model outputs it, not clamped to 0…1.
  public let confidence: Float

  init(_ observation: some VisionObservation) { (uuid, confidence) = (observation.uuid, observation.confidence) }

  /// Converts an observation to this API generation; nil for types that only the second generation has.
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
  /// Whether the model has precision and recall curves for the class. Without them, the two methods below return false.
  public var hasPrecisionRecallCurve: Bool { observation.hasPrecisionRecallCurve }

  /// Returns the result of ``ClassificationObservation/hasMinimumPrecision(_:forRecall:)``.
  public func hasMinimumPrecision(_ minimumPrecision: Float, forRecall recall: Float) -> Bool {
    observation.hasMinimumPrecision(minimumPrecision, forRecall: recall)
  }

  /// Returns the result of ``ClassificationObservation/hasMinimumRecall(_:forPrecision:)``.
  public func hasMinimumRecall(_ minimumRecall: Float, forPrecision precision: Float) -> Bool {
    observation.hasMinimumRecall(minimumRecall, forPrecision: precision)
  }
}

/// An object that a detector found.
public final class VNRecognizedObjectObservation: VNObservation {
  /// The classes that the object may belong to, the most probable first.
  public let labels: [VNClassificationObservation]
  /// The box of the object, in shares of the whole upright image, from its lower left corner.
  public let boundingBox: NormalizedRect

  init(_ observation: RecognizedObjectObservation) {
    labels = observation.labels.map(VNClassificationObservation.init)
    boundingBox = observation.boundingBox
    super.init(observation)
  }
}

/// An image that a model produced.
public final class VNPixelBufferObservation: VNObservation {
  /// The name of the output.
  public let featureName: String?
  /// The image.
  public let pixelBuffer: PixelBuffer

  init(_ observation: PixelBufferObservation) {
    (featureName, pixelBuffer) = (observation.featureName, observation.pixelBuffer)
    super.init(observation)
  }
}

/// An output of a model that is of another type.
public final class VNCoreMLFeatureValueObservation: VNObservation {
  /// The name of the output.
  public let featureName: String
  /// The value of the output.
  public let featureValue: FeatureValue

  init(_ observation: CoreMLFeatureValueObservation) {
    (featureName, featureValue) = (observation.featureName, observation.featureValue)
    super.init(observation)
  }
}
