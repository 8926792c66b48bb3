public import Kelvin

/// The type of a feature's values, with Core ML's raw values.
public enum MLFeatureType: Int, Sendable {
  /// No type.
  case invalid = 0
  /// An integer.
  case int64
  /// A number.
  case double
  /// A string.
  case string
  /// An image, in a pixel buffer.
  case image
  /// An array of numbers.
  case multiArray
  /// Numbers by string or integer.
  case dictionary
  /// A list of strings or of integers.
  case sequence
  /// A state, which predictions read and write.
  case state

  /// Creates a type from one of Kelvin's.
  public init(_ type: FeatureType) {
    self =
      switch type {
      case .int64: .int64
      case .double: .double
      case .string: .string
      case .image: .image
      case .multiArray: .multiArray
      case .dictionary: .dictionary
      case .sequence: .sequence
      case .state: .state
      }
  }

  /// Kelvin's type; nil for ``invalid``.
  public var kelvin: FeatureType? {
    switch self {
    case .invalid: nil
    case .int64: .int64
    case .double: .double
    case .string: .string
    case .image: .image
    case .multiArray: .multiArray
    case .dictionary: .dictionary
    case .sequence: .sequence
    case .state: .state
    }
  }
}
