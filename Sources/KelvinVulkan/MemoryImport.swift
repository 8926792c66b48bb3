import CKelvinSupport
import KelvinDevices
import KelvinGraph
import Synchronization

/// Memory of the host that a device reads where it is (`VK_EXT_external_memory_host`), which spares a copy of large weights.
///
/// Only software drivers are given it. A card would read across the bus; what a GPU that shares the host's memory reads
/// faster, its own allocations or the host's pages, was not measured.
final class MemoryImport: Sendable {
  static let extensionName = VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME
  static let handle = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT

  /// Weights from this size on, in bytes: each is an allocation.
  private static let worthwhile = 1 << 18
  /// Packed weights begin at multiples of it.
  private static let page = 4096

  /// Bytes of which a part's place and size have to be multiples.
  private let unit: Int
  /// Parts that may be there at a time: half of the device's allocations, so that others have room.
  private let limit: Int
  private let count = Atomic(0)

  /// Nil where the device does not read pages of the host.
  init?(
    of physical: VkPhysicalDevice, _ vk: KelvinVulkan, extensions: Set<String>, _ limits: VkPhysicalDeviceLimits
  ) {
    guard vk.vkGetMemoryHostPointerPropertiesEXT != nil,
      extensions.contains(Self.extensionName), Self.takesBuffers(physical, vk)
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
    limit = Int(clamping: limits.maxMemoryAllocationCount) / 2
  }

  /// Whether buffers may be of memory that is imported, and need no memory of their own kind for it.
  private static func takesBuffers(_ physical: VkPhysicalDevice, _ vk: KelvinVulkan) -> Bool {
    var information = VkPhysicalDeviceExternalBufferInfo()
    information.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO
    information.usage = VkBufferUsageFlags(VK_BUFFER_USAGE_STORAGE_BUFFER_BIT.rawValue)
    information.handleType = handle
    var properties = VkExternalBufferProperties()
    properties.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES
    vk.vkGetPhysicalDeviceExternalBufferProperties!(physical, &information, &properties)
    let features = properties.externalMemoryProperties.externalMemoryFeatures
    let dedicated = VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT.rawValue
    return features & (dedicated | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT.rawValue)
      == VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT.rawValue
  }

  /// Where a packed weight is, with the room that a buffer of it takes; nil where it is not worth it, has no such room, or may
  /// not be read by a driver's threads: a mapped file may be cut short, and they block the signal that says so.
  func part(_ weight: Bytes) -> Part? {
    guard weight.count >= Self.worthwhile, !weight.isOfFile, UInt(bitPattern: weight.baseAddress) % UInt(unit) == 0
    else { return nil }
    let byteCount = TexelSize.buffer((weight.count + bufferAlignment - 1) / bufferAlignment * bufferAlignment)
    guard let bytes = weight.widened(to: byteCount) else { return nil }
    guard count.add(1, ordering: .relaxed).newValue <= limit else {
      count.subtract(1, ordering: .relaxed)
      return nil
    }
    return Part(bytes, allocated: (byteCount + unit - 1) / unit * unit, of: self)
  }

  /// Memory that a buffer is to be made of. It counts as long as it is there.
  final class Part: Sendable {
    let bytes: Bytes
    /// Whole pages, of each of which the host has a part of the bytes.
    let allocated: Int
    private let owner: MemoryImport

    fileprivate init(_ bytes: Bytes, allocated: Int, of owner: MemoryImport) {
      (self.bytes, self.allocated, self.owner) = (bytes, allocated, owner)
    }

    deinit { owner.count.subtract(1, ordering: .relaxed) }

    var byteCount: Int { bytes.count }

    private var address: UnsafeMutableRawPointer { UnsafeMutableRawPointer(mutating: bytes.baseAddress) }

    /// The types, a bit each, that memory made of it may have; none where the driver does not take it.
    func memoryTypes(_ context: VulkanContext, _ place: String) throws(DeviceError) -> UInt32 {
      guard let query = context.vk.vkGetMemoryHostPointerPropertiesEXT else { return 0 }
      var properties = VkMemoryHostPointerPropertiesEXT()
      properties.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT
      let result = query(context.device, MemoryImport.handle, address, &properties)
      if result != VK_SUCCESS, result != VK_ERROR_DEVICE_LOST { return 0 }
      try context.check(result, place, byteCount: byteCount)
      return properties.memoryTypeBits
    }

    /// What tells the driver, while `body` runs, that memory is made of it.
    func withImport<Result>(
      _ body: (UnsafeRawPointer) throws(DeviceError) -> Result
    ) throws(DeviceError) -> Result {
      var information = VkImportMemoryHostPointerInfoEXT()
      information.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT
      information.handleType = MemoryImport.handle
      information.pHostPointer = address
      return try withUnsafePointer(to: information) { information throws(DeviceError) in
        try body(UnsafeRawPointer(information))
      }
    }
  }
}
