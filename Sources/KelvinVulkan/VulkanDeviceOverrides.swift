/// Restrictions of a device's properties, so that tests can imitate drivers and GPUs that are not available.
package struct VulkanDeviceOverrides: Hashable, Sendable {
  /// The kind of memory that a device appears to have.
  package enum Memory: Hashable, Sendable {
    /// The host cannot address device memory.
    case unmappable
    /// The host addresses device memory, but reads it slowly.
    case uncached
  }

  /// Whether the device appears to be hardware: kernels and tiles are those of a GPU.
  package var isHardware: Bool
  package var memory: Memory?
  /// An upper bound of `maxTexelBufferElements`, in elements; nil for none.
  package var texelLimit: UInt32?
  /// An upper bound of `maxStorageBufferRange`, in bytes; nil for none.
  package var storageLimit: UInt32?
  /// An upper bound of `maxComputeWorkGroupCount` for every side of a grid; nil for none.
  package var groupLimit: UInt32?
  /// An upper bound of `maxPerStageDescriptorStorageBuffers`; nil for none.
  package var storageBuffers: UInt32?
  /// Whether the dot products of bytes, if any, appear to be hardware instructions.
  package var acceleratesDotProducts: Bool
  /// The major version of Mesa, if the driver is Mesa's; nil for the actual one.
  package var mesaMajor: Int?
  /// Invocations in a subgroup, for the selection of kernels and tiles only.
  package var subgroupSize: Int?
  /// The number of compute units; nil for the number that the driver reports, or a guess.
  package var computeUnits: Int?

  package init(
    isHardware: Bool = true, memory: Memory? = nil, texelLimit: UInt32? = nil, storageLimit: UInt32? = nil,
    groupLimit: UInt32? = nil, storageBuffers: UInt32? = nil,
    acceleratesDotProducts: Bool = false, mesaMajor: Int? = nil, subgroupSize: Int? = nil,
    computeUnits: Int? = nil
  ) {
    self.isHardware = isHardware
    self.memory = memory
    self.texelLimit = texelLimit
    self.storageLimit = storageLimit
    self.groupLimit = groupLimit
    self.storageBuffers = storageBuffers
    self.acceleratesDotProducts = acceleratesDotProducts
    self.mesaMajor = mesaMajor
    self.subgroupSize = subgroupSize
    self.computeUnits = computeUnits
  }
}
