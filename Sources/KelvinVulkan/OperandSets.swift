import CKelvinSupport
import KelvinDevices

/// Creates the descriptor sets of kernels, and the texel views that they refer to.
final class OperandSets {
  private struct ViewKey: Hashable {
    var buffer: ObjectIdentifier
    var offset: Int
    var byteCount: Int
    var format: OperandFormat
  }

  private let context: VulkanContext
  private let setLayout: VkDescriptorSetLayout
  private let path: OperandPath
  private var views: [ViewKey: VkBufferView] = [:]

  init(_ context: VulkanContext, _ pipelines: VulkanPipelines) {
    self.context = context
    setLayout = pipelines.setLayout
    path = pipelines.operands
  }

  /// Returns the views created so far. The caller destroys them.
  func takeViews() -> [VkBufferView] {
    defer { views = [:] }
    return Array(views.values)
  }

  /// Returns a pool with room for `count` sets that have `operands` operands in total.
  func makePool(sets count: Int, operands: Int) throws(DeviceError) -> VkDescriptorPool {
    let sizes = [
      VkDescriptorPoolSize(type: VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, descriptorCount: UInt32(count)),
      VkDescriptorPoolSize(
        type: path.descriptor, descriptorCount: UInt32(max(operands, count * VulkanPipelines.operandBindings))),
    ]
    var pool: VkDescriptorPool?
    let result = sizes.withUnsafeBufferPointer { sizes in
      var information = VkDescriptorPoolCreateInfo()
      information.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO
      information.maxSets = UInt32(count)
      information.poolSizeCount = UInt32(sizes.count)
      information.pPoolSizes = sizes.baseAddress
      return context.vk.vkCreateDescriptorPool!(context.device, &information, nil, &pool)
    }
    try context.check(result, "vkCreateDescriptorPool")
    guard let pool else { throw context.error(.execution, "vkCreateDescriptorPool", "the driver returned no pool") }
    return pool
  }

  /// Returns a set for the memory that a kernel reads and writes.
  ///
  /// - Parameter formats: the formats of the memory read.
  func makeSet(
    _ formats: [OperandFormat], _ reads: [BoundStorages.Range], _ write: BoundStorages.Range,
    from pool: VkDescriptorPool?
  ) throws(DeviceError) -> VkDescriptorSet {
    let (vk, device) = (context.vk, context.device)
    var set: VkDescriptorSet?
    let result = withUnsafePointer(to: Optional(setLayout)) { layout in
      var information = VkDescriptorSetAllocateInfo()
      information.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO
      information.descriptorPool = pool
      information.descriptorSetCount = 1
      information.pSetLayouts = layout
      return vk.vkAllocateDescriptorSets!(device, &information, &set)
    }
    try context.check(result, "vkAllocateDescriptorSets")
    guard let set else { throw context.error(.execution, "vkAllocateDescriptorSets", "the driver returned no set") }
    // A binding that a shader declares must be valid, even if its specialization never reads it.
    let spare = reads.isEmpty ? 0 : max(0, VulkanPipelines.operandBindings - reads.count)
    let operands = reads + [BoundStorages.Range](repeating: reads.first ?? write, count: spare)
    var texels: [VkBufferView?] = []
    if path.hasViews {
      for (index, range) in operands.enumerated() {
        texels.append(try view(range, formats[index < formats.count ? index : 0]))
      }
    }
    let buffers = ([write] + operands).map { range in
      VkDescriptorBufferInfo(
        buffer: range.buffer.allocation.buffer, offset: VkDeviceSize(range.offset),
        range: VkDeviceSize(rounded(range)))
    }
    buffers.withUnsafeBufferPointer { buffers in
      texels.withUnsafeBufferPointer { texels in
        var writes: [VkWriteDescriptorSet] = []
        for index in buffers.indices {
          var binding = VkWriteDescriptorSet()
          binding.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET
          binding.dstSet = set
          binding.dstBinding = UInt32(index)
          binding.descriptorCount = 1
          binding.descriptorType = index > 0 ? path.descriptor : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
          if index > 0, path.hasViews {
            binding.pTexelBufferView = texels.baseAddress.map { $0 + (index - 1) }
          } else {
            binding.pBufferInfo = buffers.baseAddress.map { $0 + index }
          }
          writes.append(binding)
        }
        vk.vkUpdateDescriptorSets!(device, UInt32(writes.count), writes, 0, nil)
      }
    }
    return set
  }

  /// Returns the bytes from the range's start up to a multiple of 16, which kernels may read: they read vectors of four
  /// elements, and some read two or four elements to write one word. Buffers end at a multiple of `bufferAlignment`.
  private func rounded(_ range: BoundStorages.Range) -> Int { (max(range.byteCount, 1) + 15) / 16 * 16 }

  private func view(_ range: BoundStorages.Range, _ format: OperandFormat) throws(DeviceError) -> VkBufferView {
    let texel = path == .images ? format.words : format.texel
    let byteCount = TexelSize.view(rounded(range))
    let key = ViewKey(
      buffer: ObjectIdentifier(range.buffer), offset: range.offset, byteCount: byteCount, format: format)
    if let view = views[key] { return view }
    var information = VkBufferViewCreateInfo()
    information.sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO
    information.buffer = range.buffer.allocation.buffer
    information.offset = VkDeviceSize(range.offset)
    information.range = VkDeviceSize(byteCount)
    information.format = texel.format
    var view: VkBufferView?
    try context.check(context.vk.vkCreateBufferView!(context.device, &information, nil, &view), "vkCreateBufferView")
    guard let view else { throw context.error(.execution, "vkCreateBufferView", "the driver returned no view") }
    views[key] = view
    return view
  }
}
