public import Kelvin

/// The type of a feature's values, with Core ML's raw values.
public enum MLFeatureType: Int, Sendable {
  case invalid = 0
  case int64
  case double
  case string
  case image
  case multiArray
  case dictionary
  case sequence
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
