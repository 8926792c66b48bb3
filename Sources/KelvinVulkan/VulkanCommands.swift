import CKelvinSupport
import KelvinDevices

/// A command buffer with its pool and a fence, which is signalled when its latest submission has completed. The owner
/// destroys it before the device.
struct VulkanCommands: @unchecked Sendable {
  enum Barrier {
    /// After all earlier submissions and the host's writes.
    case start
    case computeToCompute
    /// Before the host reads.
    case end
    case everythingToTransfer
    case transferToEverything
  }

  let vk: KelvinVulkan
  let device: VkDevice
  let pool: VkCommandPool
  let buffer: VkCommandBuffer
  let fence: VkFence

  init(_ context: VulkanContext) throws(DeviceError) {
    vk = context.vk
    device = context.device
    var poolInformation = VkCommandPoolCreateInfo()
    poolInformation.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO
    poolInformation.queueFamilyIndex = context.properties.queueFamily
    var pool: VkCommandPool?
    try context.check(vk.vkCreateCommandPool!(device, &poolInformation, nil, &pool), "vkCreateCommandPool")
    guard let pool else { throw context.error(.execution, "vkCreateCommandPool", "the driver returned no pool") }
    var buffer: VkCommandBuffer?
    var fence: VkFence?
    do throws(DeviceError) {
      var information = VkCommandBufferAllocateInfo()
      information.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO
      information.commandPool = pool
      information.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY
      information.commandBufferCount = 1
      try context.check(vk.vkAllocateCommandBuffers!(device, &information, &buffer), "vkAllocateCommandBuffers")
      var fenceInformation = VkFenceCreateInfo()
      fenceInformation.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO
      try context.check(vk.vkCreateFence!(device, &fenceInformation, nil, &fence), "vkCreateFence")
      guard buffer != nil, fence != nil else {
        throw context.error(.execution, "vkCreateFence", "the driver returned no fence")
      }
    } catch {
      vk.vkDestroyCommandPool!(device, pool, nil)
      throw error
    }
    guard let buffer, let fence else {
      throw context.error(.execution, "vkCreateFence", "the driver returned no fence")
    }
    self.pool = pool
    self.buffer = buffer
    self.fence = fence
  }

  func destroy() {
    vk.vkDestroyFence!(device, fence, nil)
    vk.vkDestroyCommandPool!(device, pool, nil)
  }

  /// Records the commands again. No submission may be running.
  func record(
    _ context: VulkanContext, _ body: (VkCommandBuffer) throws(DeviceError) -> Void
  ) throws(DeviceError) {
    try context.check(vk.vkResetCommandPool!(device, pool, 0), "vkResetCommandPool")
    var information = VkCommandBufferBeginInfo()
    information.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO
    try context.check(vk.vkBeginCommandBuffer!(buffer, &information), "vkBeginCommandBuffer")
    try body(buffer)
    try context.check(vk.vkEndCommandBuffer!(buffer), "vkEndCommandBuffer")
  }

  func barrier(_ buffer: VkCommandBuffer, _ kind: Barrier) {
    let (compute, transfer, host) = (
      VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT.rawValue, VK_PIPELINE_STAGE_TRANSFER_BIT.rawValue,
      VK_PIPELINE_STAGE_HOST_BIT.rawValue
    )
    let written = VK_ACCESS_SHADER_WRITE_BIT.rawValue
    let used = VK_ACCESS_SHADER_READ_BIT.rawValue | written
    let (moved, fetched) = (VK_ACCESS_TRANSFER_WRITE_BIT.rawValue, VK_ACCESS_TRANSFER_READ_BIT.rawValue)
    let (set, seen) = (VK_ACCESS_HOST_WRITE_BIT.rawValue, VK_ACCESS_HOST_READ_BIT.rawValue)
    var memory = VkMemoryBarrier()
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER
    let (source, target): (UInt32, UInt32)
    switch kind {
    case .start:
      (source, target) = (compute | transfer | host, compute)
      (memory.srcAccessMask, memory.dstAccessMask) = (written | moved | set, used)
    case .computeToCompute:
      (source, target) = (compute, compute)
      (memory.srcAccessMask, memory.dstAccessMask) = (written, used)
    case .end:
      (source, target) = (compute, host | transfer)
      (memory.srcAccessMask, memory.dstAccessMask) = (written, seen | fetched)
    case .everythingToTransfer:
      (source, target) = (compute | transfer | host, transfer)
      (memory.srcAccessMask, memory.dstAccessMask) = (written | moved | set, fetched | moved)
    case .transferToEverything:
      (source, target) = (transfer, compute | transfer | host)
      (memory.srcAccessMask, memory.dstAccessMask) = (moved, used | fetched | moved | seen)
    }
    vk.vkCmdPipelineBarrier!(buffer, source, target, 0, 1, &memory, 0, nil, 0, nil)
  }

  /// - Parameter mayCompile: whether the driver may compile the pipelines first.
  func submit(_ context: VulkanContext, mayCompile: Bool = false) throws(DeviceError) -> DeviceHealth.Submission {
    try context.health.check()
    try withUnsafePointer(to: Optional(fence)) { fence throws(DeviceError) in
      try context.check(vk.vkResetFences!(device, 1, fence), "vkResetFences")
    }
    return try context.submit(buffer, fence: fence, mayCompile: mayCompile)
  }
}
