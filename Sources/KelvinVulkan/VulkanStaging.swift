import CKelvinSupport
import KelvinDevices

/// Copies between host memory and memory that the host cannot address, a chunk at a time.
struct VulkanStaging: @unchecked Sendable {
  private static let pieceByteCount = 4 << 20
  private let memory: VulkanAllocation
  private let pointer: UnsafeMutableRawPointer
  private let commands: VulkanCommands

  init(_ context: VulkanContext) throws(DeviceError) {
    memory = try VulkanAllocation(context, byteCount: Self.pieceByteCount, isStaging: true)
    guard let pointer = memory.pointer else {
      memory.destroy(context.vk, context.device)
      throw context.error(.unavailable, "staging memory", "the driver has no memory that the host can address")
    }
    self.pointer = pointer
    do { commands = try VulkanCommands(context) } catch {
      memory.destroy(context.vk, context.device)
      throw error
    }
  }

  func destroy(_ vk: KelvinVulkan, _ device: VkDevice) {
    commands.destroy()
    memory.destroy(vk, device)
  }

  func write(
    _ source: UnsafeRawBufferPointer, to target: VulkanAllocation, at offset: Int, _ context: VulkanContext
  ) throws(DeviceError) {
    for start in stride(from: 0, to: source.count, by: Self.pieceByteCount) {
      let count = min(Self.pieceByteCount, source.count - start)
      guard let base = source.baseAddress else { return }
      try DriverThread.pausing { () throws(DeviceError) in
        pointer.copyMemory(from: base + start, byteCount: count)
      }
      try copy(from: memory, at: 0, to: target, at: offset + start, count, context)
    }
  }

  func read(
    _ source: VulkanAllocation, at offset: Int, into target: UnsafeMutableRawBufferPointer, _ context: VulkanContext
  ) throws(DeviceError) {
    for start in stride(from: 0, to: target.count, by: Self.pieceByteCount) {
      let count = min(Self.pieceByteCount, target.count - start)
      guard let base = target.baseAddress else { return }
      try copy(from: source, at: offset + start, to: memory, at: 0, count, context)
      try DriverThread.pausing { () throws(DeviceError) in
        (base + start).copyMemory(from: pointer, byteCount: count)
      }
    }
  }

  private func copy(
    from source: VulkanAllocation, at start: Int, to target: VulkanAllocation, at end: Int, _ count: Int,
    _ context: VulkanContext
  ) throws(DeviceError) {
    try commands.record(context) { buffer in
      commands.barrier(buffer, .everythingToTransfer)
      var region = VkBufferCopy(
        srcOffset: VkDeviceSize(start), dstOffset: VkDeviceSize(end), size: VkDeviceSize(count))
      context.vk.vkCmdCopyBuffer!(buffer, source.buffer, target.buffer, 1, &region)
      commands.barrier(buffer, .transferToEverything)
    }
    let submission = try commands.submit(context)
    try context.wait(commands.fence, for: submission)
  }
}
