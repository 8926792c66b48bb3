package import KelvinGraph

/// The float types that are stored as float16 inside a segment. Arithmetic is float32 in every case.
package enum HalfStorage: Hashable, Sendable {
  /// No type: the device is faster with float32.
  case none
  /// The graph's float16 tensors, which lose no digits.
  case float16
  /// The graph's float32 tensors too, rounded.
  case all

  package func contains(_ scalar: ScalarType) -> Bool {
    switch self {
    case .none: false
    case .float16: scalar == .float16
    case .all: scalar == .float16 || scalar == .float32
    }
  }

  /// Returns the storage for a requested precision on a device with this storage.
  func reaching(_ precision: Precision) -> HalfStorage { self == .float16 && precision == .low ? .all : self }
}

/// The floats of a kernel's operands and result that are stored as float16.
package enum HalfStorageMode: Hashable, Sendable, CaseIterable {
  /// All operands and the result, except for parameters that the kernel declares as float32.
  case all
  /// All operands; the result is float32.
  case operands
  /// Packed weights alone; all other values are float32.
  case weights
}
