package import KelvinDevices

/// The properties that a device imitates, so that tests reach the code paths of other devices.
package struct OpenCLDeviceOverrides: Hashable, Sendable {
  /// The kind that determines memory, tile sizes and group sizes; nil for the actual kind.
  package var kind: DeviceInfo.Kind?
  /// The number of floats in a processor's vectors; nil for the driver's value.
  package var vectorWidth: Int?
  /// An upper bound of the elements of a tensor that kernels can address; nil for none.
  package var elementLimit: Int?
  /// Whether dot products of bytes count as fast; nil for the driver's value.
  package var acceleratesDotProducts: Bool?

  package init(
    kind: DeviceInfo.Kind? = nil, vectorWidth: Int? = nil, elementLimit: Int? = nil,
    acceleratesDotProducts: Bool? = nil
  ) {
    self.kind = kind
    self.vectorWidth = vectorWidth
    self.elementLimit = elementLimit
    self.acceleratesDotProducts = acceleratesDotProducts
  }
}
