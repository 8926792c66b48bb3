public import Foundation
public import Kelvin

/// An input, output or state of a model.
public final class MLFeatureDescription: NSObject, Sendable {
  /// Kelvin's description.
  public let kelvin: FeatureDescription

  /// Creates a description from one of Kelvin's.
  public init(_ description: FeatureDescription) { kelvin = description }

  /// The feature's name.
  public var name: String { kelvin.name }
  /// The type of the feature's values.
  public var type: MLFeatureType { MLFeatureType(kelvin.type) }
  /// Whether the input may be omitted.
  public var isOptional: Bool { kelvin.isOptional }
  /// The arrays that the feature accepts; nil for other types.
  public var multiArrayConstraint: MLMultiArrayConstraint? {
    kelvin.multiArrayConstraint.map { MLMultiArrayConstraint($0) }
  }
  /// The images that the feature accepts; nil for other types.
  public var imageConstraint: MLImageConstraint? { kelvin.imageConstraint.map { MLImageConstraint($0) } }
  /// The dictionaries that the feature accepts; nil for other types.
  public var dictionaryConstraint: MLDictionaryConstraint? {
    kelvin.dictionaryConstraint.map { MLDictionaryConstraint($0) }
  }
  /// The sequences that the feature accepts; nil for other types.
  public var sequenceConstraint: MLSequenceConstraint? { kelvin.sequenceConstraint.map { MLSequenceConstraint($0) } }
  /// The array that a state contains; nil for other types.
  public var stateConstraint: MLStateConstraint? { kelvin.stateConstraint.map { MLStateConstraint($0) } }

  /// Returns whether a prediction accepts a value for the feature.
  public func isAllowedValue(_ value: MLFeatureValue) -> Bool { kelvin.isAllowedValue(value.kelvin) }

  /// Returns whether both describe the same feature.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? MLFeatureDescription).map { kelvin == $0.kelvin } ?? false
  }
  /// A hash of the description.
  public override var hash: Int { kelvin.hashValue }
  /// The name, the type and the shape or size.
  public override var description: String {
    if let array = multiArrayConstraint { return "\(name) : MultiArray (\(array))" }
    if let image = imageConstraint { return "\(name) : Image (\(image))" }
    return "\(name) : \(type)"
  }
}
