package import KelvinDevices

/// What a device is taken for, so that tests reach the paths of others on this one.
package struct OpenCLDeviceOverrides: Hashable, Sendable {
  /// Of its memory, and of sizes of tiles and groups; nil for what it is.
  package var kind: DeviceInfo.Kind?
  /// Floats of a processor's vectors; nil for what the driver says.
  package var vectorWidth: Int?
  /// Elements of a tensor that kernels can see, where that is fewer; nil for what it is.
  package var elementLimit: Int?
  /// Whether dot products of bytes count as fast; nil for what the driver says.
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
