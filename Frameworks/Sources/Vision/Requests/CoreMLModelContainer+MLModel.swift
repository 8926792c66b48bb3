public import CoreML
import Kelvin
public import KelvinVision

extension KelvinVision.CoreMLModelContainer {
  /// Creates a model for images, with values for the other inputs.
  ///
  /// - Throws: `VisionError.invalidModel` if the model has no image input.
  public init(model: MLModel, featureProvider: (any MLFeatureProvider)? = nil) throws(VisionError) {
    try self.init(model: model.kelvin, featureProvider: featureProvider?.kelvin)
  }
}

extension MLFeatureValue {
  /// Creates a value from an output of a request.
  public convenience init(sendable value: MLSendableFeatureValue) { self.init(value) }
}

extension FeatureValue {
  /// Creates a value that crosses threads. An array is not copied.
  public init(_ value: MLFeatureValue) { self = value.kelvin }
  /// The integer; nil for a value of another type.
  public var integerValue: Int? { int64Value.map { Int($0) } }
  /// The number; nil for a value of another type.
  public var floatValue: Float? { doubleValue.map { Float($0) } }
}
