import CKelvinDrivers
import KelvinDevices
import KelvinGraph

/// Memory of the host that a device reads where it is (`VK_EXT_external_memory_host`), which spares a copy of large weights.
///
/// Only software drivers are given it. A card would read across the bus; what a GPU that shares the host's memory reads
/// faster, its own allocations or the pages of a file, was not measured.
struct HostMemory: Sendable {
  static let extensionName = VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME
  static let handle = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT

  /// Weights from this size on, in bytes: an allocation each, of which a device has 4,096 or more.
  private static let worthwhile = 1 << 18
  /// Packed weights begin at multiples of it.
  private static let page = 4096

  /// Bytes of which a part's place and size have to be multiples.
  private let unit: Int

  /// Nil where the device does not read pages of the host.
  init?(of physical: VkPhysicalDevice, _ vk: KelvinVulkan) {
    guard vk.vkGetMemoryHostPointerPropertiesEXT != nil,
      VulkanProperties.extensions(of: physical, vk).contains(Self.extensionName)
    else { return nil }
    var host = VkPhysicalDeviceExternalMemoryHostPropertiesEXT()
    host.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT
    withUnsafeMutablePointer(to: &host) { host in
      var properties = VkPhysicalDeviceProperties2()
      properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2
      properties.pNext = UnsafeMutableRawPointer(host)
      vk.vkGetPhysicalDeviceProperties2!(physical, &properties)
    }
    guard let unit = Int(exactly: host.minImportedHostPointerAlignment), unit > 0, Self.page % unit == 0 else {
      return nil
    }
    self.unit = unit
  }

  /// Where a packed weight is, with the room that a buffer of it takes; nil where it is not worth it, or has no such room.
  func part(_ weight: Bytes) -> Part? {
    guard weight.count >= Self.worthwhile, UInt(bitPattern: weight.baseAddress) % UInt(unit) == 0 else { return nil }
    let byteCount = TexelSize.buffer((weight.count + bufferAlignment - 1) / bufferAlignment * bufferAlignment)
    return weight.widened(to: byteCount).map { Part(bytes: $0, allocated: (byteCount + unit - 1) / unit * unit) }
  }

  /// Memory that a buffer is to be made of.
  struct Part {
    let bytes: Bytes
    /// Whole pages, of each of which the host has a part of the bytes.
    let allocated: Int

    var byteCount: Int { bytes.count }

    private var address: UnsafeMutableRawPointer { UnsafeMutableRawPointer(mutating: bytes.baseAddress) }

    /// The types, a bit each, that memory made of it may have.
    func memoryTypes(_ context: VulkanContext, _ place: String) throws(DeviceError) -> UInt32 {
      guard let query = context.vk.vkGetMemoryHostPointerPropertiesEXT else { return 0 }
      var properties = VkMemoryHostPointerPropertiesEXT()
      properties.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT
      try context.check(query(context.device, HostMemory.handle, address, &properties), place, byteCount: byteCount)
      return properties.memoryTypeBits
    }

    /// What tells the driver, while `body` runs, that memory is made of it.
    func withImport<Result>(
      _ body: (UnsafeRawPointer) throws(DeviceError) -> Result
    ) throws(DeviceError) -> Result {
      var information = VkImportMemoryHostPointerInfoEXT()
      information.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT
      information.handleType = HostMemory.handle
      information.pHostPointer = address
      return try withUnsafePointer(to: information) { information throws(DeviceError) in
        try body(UnsafeRawPointer(information))
      }
    }
  }
}
