public import Kelvin

/// Something that a request found in a picture.
public protocol VisionObservation: Sendable {
  /// How sure the model is. As the model says it, not clamped to 0…1.
  var confidence: Float { get }
}

/// A class that a picture may belong to.
public struct ClassificationObservation: VisionObservation, Hashable {
  /// The label.
  public let identifier: String
  public let confidence: Float
}

/// A picture that a model made.
public struct PixelBufferObservation: VisionObservation, Hashable {
  /// The output's name.
  public let featureName: String
  public let pixelBuffer: PixelBuffer
  public var confidence: Float { 1 }
}

/// Any other output of a model.
public struct CoreMLFeatureValueObservation: VisionObservation, Hashable {
  /// The output's name.
  public let featureName: String
  public let featureValue: FeatureValue
  /// Always 1.
  public var confidence: Float { 1 }
}
