/// The description of a device, as `kelvin devices` and every report show it.
package struct DeviceInfo: Hashable, Sendable, Codable {
  package enum Kind: String, Hashable, Sendable, Codable {
    case cpu
    case integratedGPU = "integrated GPU"
    case discreteGPU = "discrete GPU"
    /// A driver that runs on the CPU: llvmpipe, PoCL.
    case software
    case accelerator
    case reference
    case null
  }

  /// The name on the command line and in plans: `cpu`, `vulkan:0`, `opencl:1`, `reference`.
  package var id: String
  package var name: String
  package var kind: Kind
  package var driver: String
  package var version: String
  /// The bytes of memory for tensors.
  package var memory: Int
  /// The hardware that the device runs on; devices with the same resource do not overlap. It is `cpu` for everything
  /// that the CPU executes, and the card's UUID for a GPU.
  package var resource: String

  package init(id: String, name: String, kind: Kind, driver: String, version: String, memory: Int, resource: String) {
    self.id = id
    self.name = name
    self.kind = kind
    self.driver = driver
    self.version = version
    self.memory = memory
    self.resource = resource
  }
}
