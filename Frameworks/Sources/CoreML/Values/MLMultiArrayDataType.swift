public import Kelvin

/// The type of an array's elements, with Core ML's raw values.
public enum MLMultiArrayDataType: Int, Sendable {
  /// 64-bit floating point.
  case float64 = 65600
  /// 32-bit floating point.
  case float32 = 65568
  /// 16-bit floating point.
  case float16 = 65552
  /// 32-bit integers.
  case int32 = 131104
  /// 8-bit integers.
  case int8 = 131080

  /// Another name of ``float64``.
  public static var double: Self { .float64 }
  /// Another name of ``float32``.
  public static var float: Self { .float32 }

  /// Kelvin's type.
  public var kelvin: MultiArrayDataType {
    switch self {
    case .float64: .float64
    case .float32: .float32
    case .float16: .float16
    case .int32: .int32
    case .int8: .int8
    }
  }

  /// Returns the type of an array of Kelvin; nil if Core ML has no such type.
  public init?(_ type: MultiArrayDataType) {
    switch type {
    case .float64: self = .float64
    case .float32: self = .float32
    case .float16: self = .float16
    case .int32: self = .int32
    case .int8: self = .int8
    case .int64, .int16, .uint8, .uint16, .uint32, .uint64, .bool: return nil
    }
  }
}
