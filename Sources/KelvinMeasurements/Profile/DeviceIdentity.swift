/// The identity of a measured device. Measurements become stale when its name, driver or version changes.
package struct DeviceIdentity: Sendable, Hashable, Codable {
  /// `cpu`, `vulkan:0`, `opencl:1`.
  package var id: String
  package var name: String
  package var driver: String
  package var version: String
  /// The kind that `kelvin devices` prints: `cpu`, `discrete GPU`, `software`.
  package var kind: String?
  /// The resource. Devices of one resource share hardware and never overlap.
  package var resource: String?
  /// The bytes of values that the device can hold.
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

  /// Whether measurements of one device apply to the other.
  package func isSame(as other: DeviceIdentity) -> Bool {
    id == other.id && name == other.name && driver == other.driver && version == other.version
  }
}

/// The power of a device in watts.
package struct DevicePower: Sendable, Hashable, Codable {
  package var idleWatts: Double
  /// The power while it computes; at least `idleWatts`.
  package var busyWatts: Double
  /// `measured by RAPL`, `estimated: …`.
  package var source: String

  package init(idleWatts: Double, busyWatts: Double, source: String) {
    self.idleWatts = idleWatts
    self.busyWatts = busyWatts
    self.source = source
  }

  /// The power above idle; multiplied by seconds of work, it gives the dynamic energy.
  package var dynamicWatts: Double { max(0, busyWatts - idleWatts) }
}
