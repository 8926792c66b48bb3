import CKelvinSupport
import KelvinDevices

/// A Vulkan buffer with its own memory. The owner destroys it before the device.
struct VulkanAllocation: @unchecked Sendable {
  let buffer: VkBuffer
  let memory: VkDeviceMemory
  let byteCount: Int
  /// The host's mapping of the memory, which is coherent; nil if the host cannot access it.
  let pointer: UnsafeMutableRawPointer?
  /// Whether the host reads the memory as fast as its own, neither across the bus nor uncached.
  let isReadable: Bool

  /// - Parameter isStaging: whether the memory is used only for copies between host and device.
  init(_ context: VulkanContext, byteCount: Int, isStaging: Bool) throws(DeviceError) {
    let imitated = isStaging ? nil : context.properties.imitatedMemory
    let place = "memory of \(byteCount) bytes"
    let buffer = try UnboundBuffer(context, byteCount: byteCount)
    let memory: VkDeviceMemory
    var pointer: UnsafeMutableRawPointer?
    let type: MemoryType
    do throws(DeviceError) {
      let needs = buffer.requirements
      guard let found = Self.memoryType(context.properties, needs.memoryTypeBits, isStaging: isStaging) else {
        throw context.error(
          .outOfMemory, "a buffer of \(byteCount) bytes", "no memory type fits it", byteCount: byteCount)
      }
      type = found
      memory = try buffer.bound(to: Int(needs.size), ofType: type.index, place)
    } catch {
      buffer.destroy()
      throw error
    }
    if type.isHostVisible, imitated != .unmappable {
      let mapped = context.vk.vkMapMemory!(context.device, memory, 0, VkDeviceSize(VK_WHOLE_SIZE), 0, &pointer)
      do throws(DeviceError) { try context.check(mapped, place, byteCount: byteCount) } catch {
        buffer.destroy()
        context.vk.vkFreeMemory!(context.device, memory, nil)
        throw error
      }
    }
    self.buffer = buffer.handle
    self.memory = memory
    self.byteCount = byteCount
    self.pointer = pointer
    isReadable = pointer != nil && (isStaging || (type.isCached && imitated != .uncached))
  }

  /// Creates a buffer over host memory that is never written and whose owner outlives the buffer.
  ///
  /// - Throws: the driver's error; a driver need not accept every page.
  init(_ context: VulkanContext, of part: MemoryImport.Part) throws(DeviceError) {
    let place = "\(part.byteCount) bytes of the host"
    let buffer = try UnboundBuffer(context, byteCount: part.byteCount, isOfHost: true)
    do throws(DeviceError) {
      let types = try part.memoryTypes(context, place) & buffer.requirements.memoryTypeBits
      guard types != 0, buffer.requirements.size <= part.allocated else {
        throw context.error(.outOfMemory, place, "no memory type fits them", byteCount: part.byteCount)
      }
      memory = try part.withImport { chain throws(DeviceError) in
        try buffer.bound(to: part.allocated, ofType: UInt32(types.trailingZeroBitCount), place, chain)
      }
    } catch {
      buffer.destroy()
      throw error
    }
    self.buffer = buffer.handle
    byteCount = part.byteCount
    pointer = nil
    isReadable = false
  }

  func destroy(_ vk: KelvinVulkan, _ device: VkDevice) {
    vk.vkDestroyBuffer!(device, buffer, nil)
    vk.vkFreeMemory!(device, memory, nil)
  }

  /// Returns the heap of a device's buffers; nil if no memory type fits them.
  static func heap(_ properties: VulkanProperties) -> Int? {
    memoryType(properties, .max, isStaging: false).map { properties.heap(ofType: $0.index) }
  }

  /// Returns the memory type for a buffer: shared memory on a device that shares the host's memory. On a discrete GPU
  /// it is local memory, mapped if the host reaches all of it (resizable BAR).
  private static func memoryType(
    _ properties: VulkanProperties, _ allowed: UInt32, isStaging: Bool
  ) -> MemoryType? {
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
      // Memory that only has to be local stays unmapped, so that other processes can use a GPU's small host-visible
      // window.
      return MemoryType(
        index: index, isHostVisible: flags & shared == shared,
        isCached: properties.memoryFlags(ofType: index) & cached != 0)
    }
    return nil
  }
}

/// The memory type selected for a buffer.
private struct MemoryType {
  let index: UInt32
  let isHostVisible: Bool
  let isCached: Bool
}

/// A buffer without memory.
private struct UnboundBuffer {
  let handle: VkBuffer
  let requirements: VkMemoryRequirements
  private let context: VulkanContext

  /// - Parameter isOfHost: whether the buffer will use host memory.
  init(_ context: VulkanContext, byteCount: Int, isOfHost: Bool = false) throws(DeviceError) {
    var information = VkBufferCreateInfo()
    information.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO
    information.size = VkDeviceSize(byteCount)
    information.usage = [
      VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    ].reduce(context.operands.usage) { $0 | $1.rawValue }
    var external = VkExternalMemoryBufferCreateInfo()
    external.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO
    external.handleTypes = VkExternalMemoryHandleTypeFlags(MemoryImport.handle.rawValue)
    var buffer: VkBuffer?
    let result = withUnsafePointer(to: external) { external in
      information.pNext = isOfHost ? UnsafeRawPointer(external) : nil
      return context.vk.vkCreateBuffer!(context.device, &information, nil, &buffer)
    }
    try context.check(result, "a buffer of \(byteCount) bytes", byteCount: byteCount)
    guard let buffer else { throw context.error(.execution, "vkCreateBuffer", "the driver returned no buffer") }
    var requirements = VkMemoryRequirements()
    context.vk.vkGetBufferMemoryRequirements!(context.device, buffer, &requirements)
    (handle, self.requirements, self.context) = (buffer, requirements, context)
  }

  /// Binds new memory to the buffer, and frees the memory if binding fails.
  ///
  /// - Parameter chain: more structures that describe the memory.
  func bound(
    to byteCount: Int, ofType type: UInt32, _ place: String, _ chain: UnsafeRawPointer? = nil
  ) throws(DeviceError) -> VkDeviceMemory {
    var allocation = VkMemoryAllocateInfo()
    allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO
    allocation.pNext = chain
    allocation.allocationSize = VkDeviceSize(byteCount)
    allocation.memoryTypeIndex = type
    var memory: VkDeviceMemory?
    var result = context.vk.vkAllocateMemory!(context.device, &allocation, nil, &memory)
    // Some drivers report other errors when they reject an import. A rejected import is not a device fault.
    if chain != nil, result == VK_ERROR_UNKNOWN || result == VK_ERROR_INITIALIZATION_FAILED {
      result = VK_ERROR_INVALID_EXTERNAL_HANDLE
    }
    try context.check(result, place, byteCount: byteCount)
    guard let memory else { throw context.error(.outOfMemory, place, "the driver returned none", byteCount: byteCount) }
    do throws(DeviceError) {
      try context.check(
        context.vk.vkBindBufferMemory!(context.device, handle, memory, 0), place, byteCount: byteCount)
    } catch {
      context.vk.vkFreeMemory!(context.device, memory, nil)
      throw error
    }
    return memory
  }

  func destroy() { context.vk.vkDestroyBuffer!(context.device, handle, nil) }
}
