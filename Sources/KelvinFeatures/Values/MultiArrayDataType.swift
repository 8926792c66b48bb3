package import KelvinGraph

/// The element type of a ``MultiArray``.
public enum MultiArrayDataType: String, Hashable, Sendable, CaseIterable {
  /// IEEE 754, 8 bytes per element.
  case float64
  /// IEEE 754, 4 bytes per element.
  case float32
  /// IEEE 754, 2 bytes per element.
  case float16
  /// 4 bytes per element.
  case int32
  /// 8 bytes per element.
  case int64
  /// 2 bytes per element.
  case int16
  /// 1 byte per element.
  case int8
  /// 1 byte per element.
  case uint8
  /// 2 bytes per element.
  case uint16
  /// 4 bytes per element.
  case uint32
  /// 8 bytes per element.
  case uint64
  /// 1 byte per element, 0 or 1.
  case bool

  /// An alias of ``float64``.
  public static let double = MultiArrayDataType.float64
  /// An alias of ``float32``.
  public static let float = MultiArrayDataType.float32

  /// The size of an element in bytes.
  public var byteCount: Int { scalar.byteCount }

  /// The range of integers that both float64 and this type represent; nil for floating-point types.
  var wholeNumbers: ClosedRange<Double>? {
    switch self {
    case .float64, .float32, .float16: nil
    case .int64: -0x1p63...0x1p63.nextDown
    case .int32: -0x1p31...0x1p31 - 1
    case .int16: -0x1p15...0x1p15 - 1
    case .int8: -0x1p7...0x1p7 - 1
    case .uint64: 0...0x1p64.nextDown
    case .uint32: 0...0x1p32 - 1
    case .uint16: 0...0x1p16 - 1
    case .uint8: 0...0x1p8 - 1
    case .bool: 0...1
    }
  }

  package var scalar: ScalarType {
    switch self {
    case .float64: .float64
    case .float32: .float32
    case .float16: .float16
    case .int32: .int32
    case .int64: .int64
    case .int16: .int16
    case .int8: .int8
    case .uint8: .uint8
    case .uint16: .uint16
    case .uint32: .uint32
    case .uint64: .uint64
    case .bool: .bool
    }
  }

  package init(_ scalar: ScalarType) {
    switch scalar {
    case .float64: self = .float64
    case .float32: self = .float32
    case .float16: self = .float16
    case .int32: self = .int32
    case .int64: self = .int64
    case .int16: self = .int16
    case .int8: self = .int8
    case .uint8: self = .uint8
    case .uint16: self = .uint16
    case .uint32: self = .uint32
    case .uint64: self = .uint64
    case .bool: self = .bool
    }
  }
}
