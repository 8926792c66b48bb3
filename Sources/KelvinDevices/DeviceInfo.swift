/// What a device is, as `kelvin devices` and every report show it.
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

  /// `cpu`, `vulkan:0`, `opencl:1`, `reference`: the name on the command line and in plans.
  package var id: String
  package var name: String
  package var kind: Kind
  package var driver: String
  package var version: String
  /// Bytes of memory the device can hold tensors in.
  package var memory: Int
  /// Devices with the same resource run on the same silicon and are never counted as overlapping: `cpu` for everything
  /// that the CPU executes, the card's UUID for a GPU.
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

  package var isGPU: Bool { kind == .integratedGPU || kind == .discreteGPU }
}
