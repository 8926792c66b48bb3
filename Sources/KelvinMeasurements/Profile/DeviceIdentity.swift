/// A device as it was when measured. A change of name, driver or version makes its measurements stale.
package struct DeviceIdentity: Sendable, Hashable, Codable {
  /// `cpu`, `vulkan:0`, `opencl:1`.
  package var id: String
  package var name: String
  package var driver: String
  package var version: String
  /// As `kelvin devices` says it: `cpu`, `discrete GPU`, `software`.
  package var kind: String?
  /// Devices of one resource share silicon and never overlap.
  package var resource: String?
  /// Bytes of values that the device can hold.
  package var memory: Int?
  package var power: DevicePower?

  package init(
    id: String, name: String, driver: String, version: String, kind: String? = nil, resource: String? = nil,
    memory: Int? = nil, power: DevicePower? = nil
  ) {
    self.id = id
    self.name = name
    self.driver = driver
    self.version = version
    self.kind = kind
    self.resource = resource
    self.memory = memory
    self.power = power
  }

  /// Whether what was measured of one holds for the other.
  package func isSame(as other: DeviceIdentity) -> Bool {
    id == other.id && name == other.name && driver == other.driver && version == other.version
  }
}

/// What a device draws, in watts.
package struct DevicePower: Sendable, Hashable, Codable {
  package var idleWatts: Double
  /// While it computes; at least `idleWatts`.
  package var busyWatts: Double
  /// `measured by RAPL`, `estimated: …`.
  package var source: String

  package init(idleWatts: Double, busyWatts: Double, source: String) {
    self.idleWatts = idleWatts
    self.busyWatts = busyWatts
    self.source = source
  }

  /// Watts above idle: seconds of work times this is its dynamic energy.
  package var dynamicWatts: Double { max(0, busyWatts - idleWatts) }
}
