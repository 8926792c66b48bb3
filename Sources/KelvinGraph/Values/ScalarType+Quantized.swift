extension ScalarType {
  /// Whether values are quantized to this type.
  package var isQuantized: Bool { quantizedRange != nil }

  /// The 8-bit integers.
  package var isByte: Bool { self == .int8 || self == .uint8 }

  /// The values of an integer type of at most 32 bits.
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
