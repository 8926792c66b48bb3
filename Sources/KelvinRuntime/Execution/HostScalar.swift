import KelvinDevices
import KelvinGraph

/// A value with one element that control flow reads on the host.
enum HostScalar {
  case constant(Int)
  case memory(UnsafeRawPointer, ScalarType)

  /// The element as an integer; a floating-point element counts as 1 unless it is zero.
  var integer: Int {
    switch self {
    case .constant(let value): value
    case .memory(let address, let scalar):
      switch scalar {
      case .bool: address.load(as: UInt8.self) == 0 ? 0 : 1
      case .int8: Int(address.load(as: Int8.self))
      case .uint8: Int(address.load(as: UInt8.self))
      case .int16: Int(address.load(as: Int16.self))
      case .uint16: Int(address.load(as: UInt16.self))
      case .int32: Int(address.load(as: Int32.self))
      case .uint32: Int(address.load(as: UInt32.self))
      case .int64: Int(address.load(as: Int64.self))
      case .uint64: Int(clamping: address.load(as: UInt64.self))
      case .float16: address.load(as: UInt16.self) & 0x7fff == 0 ? 0 : 1
      case .float32: address.load(as: Float.self) == 0 ? 0 : 1
      case .float64: address.load(as: Double.self) == 0 ? 0 : 1
      }
    }
  }

  var isTrue: Bool { integer != 0 }
}
