public import CoreML
public import CoreVideo
public import Foundation
public import KelvinVision

/// A result that a request found in an image.
open class VNObservation: NSObject, @unchecked Sendable {
  /// The confidence as the model outputs it.
  public let confidence: Float
  private let identity: @Sendable () -> UUID

  /// - Parameter uuid: is evaluated when it is read. Its numbers are random, and a classifier has many observations.
  init(uuid: @autoclosure @escaping @Sendable () -> UUID, confidence: Float) {
    (identity, self.confidence) = (uuid, confidence)
  }

  /// The identifier of the observation.
  public var uuid: UUID { identity() }

  /// Creates an observation from one of Kelvin's; nil for types that have no counterpart.
  static func of(_ observation: any KelvinVision.VisionObservation) -> VNObservation? {
    switch observation {
    case let classification as KelvinVision.ClassificationObservation: VNClassificationObservation(classification)
    case let object as KelvinVision.RecognizedObjectObservation: VNRecognizedObjectObservation(object)
    case let image as KelvinVision.PixelBufferObservation: VNPixelBufferObservation(image)
    case let value as KelvinVision.CoreMLFeatureValueObservation: VNCoreMLFeatureValueObservation(value)
    default: nil
    }
  }
}

/// A class that an image, or a part of it, may belong to.
public final class VNClassificationObservation: VNObservation, @unchecked Sendable {
  /// Kelvin's observation.
  public let kelvin: KelvinVision.ClassificationObservation

  /// Creates an observation from one of Kelvin's.
  public init(_ observation: KelvinVision.ClassificationObservation) {
    kelvin = observation
    super.init(uuid: observation.uuid, confidence: observation.confidence)
  }

  /// The label.
  public var identifier: String { kelvin.identifier }
  /// Whether the model has precision and recall curves for the class. Without them, the two methods below return false.
  public var hasPrecisionRecallCurve: Bool { kelvin.hasPrecisionRecallCurve }

  /// Returns whether the confidence reaches the threshold for a recall, and the precision there is sufficient.
  public func hasMinimumPrecision(_ minimumPrecision: Float, forRecall recall: Float) -> Bool {
    kelvin.hasMinimumPrecision(minimumPrecision, forRecall: recall)
  }

  /// Returns whether the confidence reaches the threshold for a precision, and the recall there is sufficient.
  public func hasMinimumRecall(_ minimumRecall: Float, forPrecision precision: Float) -> Bool {
    kelvin.hasMinimumRecall(minimumRecall, forPrecision: precision)
  }

  /// The identifier, the label and the confidence.
  public override var description: String { "\(uuid) \"\(identifier)\" confidence=\(confidence)" }
}

/// A part of an image.
open class VNDetectedObjectObservation: VNObservation, @unchecked Sendable {
  /// The box, in shares of the whole upright image, from its lower left corner.
  public let boundingBox: CGRect

  /// Creates an observation of a box, with confidence 1.
  public convenience init(boundingBox: CGRect) {
    let uuid = UUID()
    self.init(boundingBox, uuid: uuid, confidence: 1)
  }

  init(_ boundingBox: CGRect, uuid: @autoclosure @escaping @Sendable () -> UUID, confidence: Float) {
    self.boundingBox = boundingBox
    super.init(uuid: uuid(), confidence: confidence)
  }
}

/// An object that a detector found.
public final class VNRecognizedObjectObservation: VNDetectedObjectObservation, @unchecked Sendable {
  /// Kelvin's observation.
  public let kelvin: KelvinVision.RecognizedObjectObservation
  /// The classes that the object may belong to, the most probable first.
  public let labels: [VNClassificationObservation]

  /// Creates an observation from one of Kelvin's.
  public init(_ observation: KelvinVision.RecognizedObjectObservation) {
    kelvin = observation
    labels = observation.labels.map { VNClassificationObservation($0) }
    super.init(observation.boundingBox.cgRect, uuid: observation.uuid, confidence: observation.confidence)
  }
}

/// An image that a model produced.
public final class VNPixelBufferObservation: VNObservation, @unchecked Sendable {
  /// Kelvin's observation.
  public let kelvin: KelvinVision.PixelBufferObservation
  /// The image.
  public let pixelBuffer: CVPixelBuffer
  /// The name of the output.
  public var featureName: String? { kelvin.featureName }

  /// Creates an observation from one of Kelvin's.
  ///
  /// - Precondition: the image is not a video frame.
  public init(_ observation: KelvinVision.PixelBufferObservation) {
    kelvin = observation
    guard let buffer = CVBuffer.copying(observation.pixelBuffer) else {
      preconditionFailure("a model's output has a format that buffers have")
    }
    pixelBuffer = buffer
    super.init(uuid: observation.uuid, confidence: observation.confidence)
  }
}

/// An output of a model that is of another type.
public final class VNCoreMLFeatureValueObservation: VNObservation, @unchecked Sendable {
  /// Kelvin's observation.
  public let kelvin: KelvinVision.CoreMLFeatureValueObservation
  /// The value of the output.
  public let featureValue: MLFeatureValue
  /// The name of the output.
  public var featureName: String { kelvin.featureName }

  /// Creates an observation from one of Kelvin's.
  public init(_ observation: KelvinVision.CoreMLFeatureValueObservation) {
    kelvin = observation
    featureValue = MLFeatureValue(observation.featureValue)
    super.init(uuid: observation.uuid, confidence: observation.confidence)
  }
}
