extension ScalarType {
  /// Whether values may be quantized to this type.
  package var isQuantized: Bool { quantizedRange != nil }

  /// Whether the type is an 8-bit integer.
  package var isByte: Bool { self == .int8 || self == .uint8 }

  /// The range of an integer type of at most 32 bits; nil for other types.
  package var quantizedRange: ClosedRange<Int>? {
    switch self {
    case .int8: -128...127
    case .uint8: 0...255
    case .int16: -32768...32767
    case .uint16: 0...65535
    case .int32: Int(Int32.min)...Int(Int32.max)
    default: nil
    }
  }
}
