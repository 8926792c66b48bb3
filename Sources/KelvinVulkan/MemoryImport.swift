import CKelvinSupport
import KelvinDevices
import KelvinGraph
import Synchronization

/// Host memory that a device reads in place (`VK_EXT_external_memory_host`), which avoids a copy of large weights.
///
/// Only software drivers use the import: a discrete GPU would read across the bus.
final class MemoryImport: Sendable {
  static let extensionName = VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME
  static let handle = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT

  /// The least size of an imported weight, in bytes. Each imported weight is one allocation.
  private static let worthwhile = 1 << 18
  /// The alignment of packed weights, in bytes.
  private static let page = 4096

  /// The alignment of a part's address and size, in bytes.
  private let unit: Int
  /// The largest number of parts at a time: half of the device's allocations.
  private let limit: Int
  private let count = Atomic(0)

  /// Returns nil if the device cannot read host pages.
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

  /// Whether buffers may use imported memory without a dedicated allocation.
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

  /// Returns the memory of a packed weight with the room that a buffer needs. Returns nil if the weight is small, has
  /// no such room, or is in a mapped file. A mapped file may be truncated, and driver threads block the signal that
  /// reports it.
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

  /// Host memory for a buffer. A part counts against the limit until it is released.
  final class Part: Sendable {
    let bytes: Bytes
    /// Whole pages in bytes; the host owns at least part of each page.
    let allocated: Int
    private let owner: MemoryImport

    fileprivate init(_ bytes: Bytes, allocated: Int, of owner: MemoryImport) {
      (self.bytes, self.allocated, self.owner) = (bytes, allocated, owner)
    }

    deinit { owner.count.subtract(1, ordering: .relaxed) }

    var byteCount: Int { bytes.count }

    private var address: UnsafeMutableRawPointer { UnsafeMutableRawPointer(mutating: bytes.baseAddress) }

    /// Returns a bit for each memory type that the imported memory may have; 0 if the driver rejects the memory.
    func memoryTypes(_ context: VulkanContext, _ place: String) throws(DeviceError) -> UInt32 {
      guard let query = context.vk.vkGetMemoryHostPointerPropertiesEXT else { return 0 }
      var properties = VkMemoryHostPointerPropertiesEXT()
      properties.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT
      let result = query(context.device, MemoryImport.handle, address, &properties)
      if result != VK_SUCCESS, result != VK_ERROR_DEVICE_LOST { return 0 }
      try context.check(result, place, byteCount: byteCount)
      return properties.memoryTypeBits
    }

    /// Calls `body` with the structure that imports the memory, valid during the call.
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
