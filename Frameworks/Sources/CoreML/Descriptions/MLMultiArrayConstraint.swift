public import Foundation
public import Kelvin

/// The arrays that a feature accepts.
public final class MLMultiArrayConstraint: NSObject, Sendable {
  /// Kelvin's constraint.
  public let kelvin: MultiArrayConstraint

  init(_ constraint: MultiArrayConstraint) { kelvin = constraint }

  /// The default shape.
  public var shape: [NSNumber] { kelvin.shape.map { NSNumber(value: $0) } }
  /// The type of the elements; int32 for a type that Core ML does not have.
  public var dataType: MLMultiArrayDataType { MLMultiArrayDataType(kelvin.dataType) ?? .int32 }
  /// The allowed shapes.
  public var shapeConstraint: MLMultiArrayShapeConstraint { MLMultiArrayShapeConstraint(kelvin.shapeConstraint) }
  /// The type and the shape.
  public override var description: String {
    "\(kelvin.dataType.rawValue), \(kelvin.shape.map(String.init).joined(separator: " × "))"
  }
}

/// The kind of a shape constraint, with Core ML's raw values.
public enum MLMultiArrayShapeConstraintType: Int, Sendable {
  /// Any shape.
  case unspecified = 1
  /// One of several shapes.
  case enumerated = 2
  /// Each size within a range.
  case range = 3
}

/// The allowed shapes of a feature's arrays.
public final class MLMultiArrayShapeConstraint: NSObject, Sendable {
  /// Kelvin's constraint.
  public let kelvin: MultiArrayShapeConstraint

  init(_ constraint: MultiArrayShapeConstraint) { kelvin = constraint }

  /// The kind of the constraint.
  public var type: MLMultiArrayShapeConstraintType {
    switch kelvin.type {
    case .unspecified: .unspecified
    case .enumerated: .enumerated
    case .range: .range
    }
  }
  /// The allowed sizes of each dimension, an `NSRange` each.
  public var sizeRangeForDimension: [NSValue] { kelvin.sizeRangeForDimension.map { NSValue(range: NSRange($0)) } }
  /// The allowed shapes, if they are enumerated.
  public var enumeratedShapes: [[NSNumber]] { kelvin.enumeratedShapes.map { $0.map { NSNumber(value: $0) } } }
}

/// The array that a state contains.
public final class MLStateConstraint: NSObject, Sendable {
  /// Kelvin's constraint.
  public let kelvin: MultiArrayConstraint

  init(_ constraint: MultiArrayConstraint) { kelvin = constraint }

  /// The shape of the state.
  public var bufferShape: [Int] { kelvin.shape }
  /// The type of the elements.
  public var dataType: MLMultiArrayDataType { MLMultiArrayDataType(kelvin.dataType) ?? .int32 }
}

/// The dictionaries that a feature accepts.
public final class MLDictionaryConstraint: NSObject, Sendable {
  /// Kelvin's constraint.
  public let kelvin: DictionaryConstraint

  init(_ constraint: DictionaryConstraint) { kelvin = constraint }

  /// The type of the keys.
  public var keyType: MLFeatureType { MLFeatureType(kelvin.keyType) }
}

/// The sequences that a feature accepts.
public final class MLSequenceConstraint: NSObject, Sendable {
  /// Kelvin's constraint.
  public let kelvin: SequenceConstraint

  init(_ constraint: SequenceConstraint) { kelvin = constraint }

  /// The type of the elements.
  public var valueType: MLFeatureType { MLFeatureType(kelvin.valueType) }
  /// The allowed numbers of elements.
  public var countRange: NSRange {
    kelvin.sizeRangeForDimension?.first.map { NSRange($0) } ?? NSRange(location: 0, length: .max)
  }
}

extension NSRange {
  /// Creates a range of sizes. An unbounded one ends at the largest integer.
  init(_ sizes: ClosedRange<Int>) {
    let length = sizes.upperBound - sizes.lowerBound
    self.init(location: sizes.lowerBound, length: length == .max ? .max : length + 1)
  }
}
