/// Less than a device has, so that what cards and drivers are like that are not at hand can be tried on this one.
package struct VulkanDeviceOverrides: Hashable, Sendable {
  /// Where a device's memory seems to be.
  package enum Memory: Hashable, Sendable {
    /// The host cannot address the device's own.
    case unmappable
    /// The host addresses it, but reads it slowly.
    case uncached
  }

  /// Whether it seems to be hardware: kernels and tiles are those of a GPU.
  package var isHardware: Bool
  package var memory: Memory?
  /// `maxTexelBufferElements`, in elements, where it is more; nil for what it is.
  package var texelLimit: UInt32?
  /// `maxStorageBufferRange`, in bytes, where it is more; nil for what it is.
  package var storageLimit: UInt32?
  /// `maxComputeWorkGroupCount` of every side of a grid, where it is more; nil for what it is.
  package var groupLimit: UInt32?
  /// `maxPerStageDescriptorStorageBuffers`, where it is more; nil for what it is.
  package var storageBuffers: UInt32?
  /// Whether its dot products of bytes, where it has any, seem to be an instruction of the hardware.
  package var acceleratesDotProducts: Bool
  /// The first number of Mesa's version, where the driver is Mesa's; nil for what it is.
  package var mesaMajor: Int?
  /// Invocations in a subgroup, as far as kernels and tiles are chosen by it.
  package var subgroupSize: Int?

  package init(
    isHardware: Bool = true, memory: Memory? = nil, texelLimit: UInt32? = nil, storageLimit: UInt32? = nil,
    groupLimit: UInt32? = nil, storageBuffers: UInt32? = nil,
    acceleratesDotProducts: Bool = false, mesaMajor: Int? = nil, subgroupSize: Int? = nil
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
  }
}
