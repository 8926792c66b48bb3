import CKelvinDrivers
import KelvinDevices

/// A Vulkan buffer with memory of its own. Its owner destroys it, before the device.
struct VulkanAllocation: @unchecked Sendable {
  let buffer: VkBuffer
  let memory: VkDeviceMemory
  let byteCount: Int
  /// Where the host sees the memory, coherently; nil where it cannot.
  let pointer: UnsafeMutableRawPointer?
  /// Whether the host reads it at the speed of its own memory: not across the bus to a card, nor past the caches.
  let isReadable: Bool

  /// - Parameter isStaging: whether the memory only carries copies between host and device.
  init(_ context: VulkanContext, byteCount: Int, isStaging: Bool) throws(DeviceError) {
    let vk = context.vk
    let device = context.device
    var information = VkBufferCreateInfo()
    information.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO
    information.size = VkDeviceSize(byteCount)
    information.usage = [
      VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    ].reduce(context.operands.usage) { $0 | $1.rawValue }
    var buffer: VkBuffer?
    try context.check(
      vk.vkCreateBuffer!(device, &information, nil, &buffer), "a buffer of \(byteCount) bytes", byteCount: byteCount)
    guard let buffer else { throw context.error(.execution, "vkCreateBuffer", "it gave no buffer") }
    var memory: VkDeviceMemory?
    do throws(DeviceError) {
      var requirements = VkMemoryRequirements()
      vk.vkGetBufferMemoryRequirements!(device, buffer, &requirements)
      guard let type = Self.memoryType(context.properties, requirements.memoryTypeBits, isStaging: isStaging) else {
        throw context.error(
          .outOfMemory, "a buffer of \(byteCount) bytes", "no memory type fits it", byteCount: byteCount)
      }
      var allocation = VkMemoryAllocateInfo()
      allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO
      allocation.allocationSize = requirements.size
      allocation.memoryTypeIndex = type.index
      let place = "memory of \(byteCount) bytes"
      try context.check(vk.vkAllocateMemory!(device, &allocation, nil, &memory), place, byteCount: byteCount)
      guard let memory else { throw context.error(.outOfMemory, place, "the driver gave none", byteCount: byteCount) }
      try context.check(vk.vkBindBufferMemory!(device, buffer, memory, 0), place, byteCount: byteCount)
      var pointer: UnsafeMutableRawPointer?
      let imitated = isStaging ? nil : context.properties.imitatedMemory
      if type.isHostVisible, imitated != .unmappable {
        try context.check(
          vk.vkMapMemory!(device, memory, 0, VkDeviceSize(VK_WHOLE_SIZE), 0, &pointer), place, byteCount: byteCount)
      }
      self.pointer = pointer
      isReadable = pointer != nil && (isStaging || (type.isCached && imitated != .uncached))
      self.memory = memory
    } catch {
      vk.vkDestroyBuffer!(device, buffer, nil)
      if let memory { vk.vkFreeMemory!(device, memory, nil) }
      throw error
    }
    self.buffer = buffer
    self.byteCount = byteCount
  }

  func destroy(_ vk: KelvinVulkan, _ device: VkDevice) {
    vk.vkDestroyBuffer!(device, buffer, nil)
    vk.vkFreeMemory!(device, memory, nil)
  }

  /// Memory that device and host share, where the device is one with the host; its own where it is a card, mapped if
  /// the host reaches all of it (resizable BAR).
  private static func memoryType(
    _ properties: VulkanProperties, _ allowed: UInt32, isStaging: Bool
  ) -> (index: UInt32, isHostVisible: Bool, isCached: Bool)? {
    let local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT.rawValue
    let shared = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT.rawValue | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT.rawValue
    let cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT.rawValue
    var wanted: [UInt32]
    if isStaging {
      wanted = [shared | cached, shared]
    } else if properties.kind == .discreteGPU {
      wanted = [local, shared]
      if let index = properties.memoryType(allowed: allowed, flags: local | shared),
        properties.heapByteCount(ofType: index) >= properties.largestLocalHeap
      {
        wanted.insert(local | shared, at: 0)
      }
    } else {
      wanted = [local | shared | cached, local | shared, shared | cached, shared, local]
    }
    for flags in wanted {
      guard let index = properties.memoryType(allowed: allowed, flags: flags) else { continue }
      // Memory wanted for being local only stays unmapped, so that a card's small window is left to others.
      return (index, flags & shared == shared, properties.memoryFlags(ofType: index) & cached != 0)
    }
    return nil
  }
}
