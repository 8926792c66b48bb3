package import KelvinGraph

/// Which floats lie as float16 inside a segment; arithmetic is float32 all the same.
package enum HalfStorage: Hashable, Sendable {
  /// None: the device is faster with float32.
  case none
  /// Those of the graph that are float16, of which nothing is lost.
  case float16
  /// Those that are float32 as well, rounded.
  case all

  package func contains(_ scalar: ScalarType) -> Bool {
    switch self {
    case .none: false
    case .float16: scalar == .float16
    case .all: scalar == .float16 || scalar == .float32
    }
  }

  /// What a device that keeps this makes of a precision.
  func reaching(_ precision: Precision) -> HalfStorage { self == .float16 && precision == .low ? .all : self }
}

/// Which floats of a kernel's operands and result lie as float16.
package enum HalfStorageMode: Hashable, Sendable, CaseIterable {
  /// All but parameters that it declares as float32.
  case all
  /// All that it reads, beside a result in float32.
  case operands
  /// Packed weights alone, beside values in float32.
  case weights
}
