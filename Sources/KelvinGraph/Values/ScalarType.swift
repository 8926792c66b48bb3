/// The element type of a tensor.
package enum ScalarType: String, Hashable, Sendable, Codable, CaseIterable {
  case float16, float32, float64
  case int8, int16, int32, int64
  case uint8, uint16, uint32, uint64
  case bool

  /// The number of bytes of an element in a dense tensor.
  package var byteCount: Int {
    switch self {
    case .int8, .uint8, .bool: 1
    case .float16, .int16, .uint16: 2
    case .float32, .int32, .uint32: 4
    case .float64, .int64, .uint64: 8
    }
  }

  package var isFloatingPoint: Bool {
    switch self {
    case .float16, .float32, .float64: true
    default: false
    }
  }
}
