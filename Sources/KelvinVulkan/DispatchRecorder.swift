import CKelvinDrivers
import KelvinDevices
import KelvinGPU

/// Records an executable's dispatches on an invocation's memory: descriptors, barriers where they depend on each other,
/// and timestamps where they are wanted.
final class DispatchRecorder {
  private struct ViewKey: Hashable {
    var buffer: ObjectIdentifier
    var offset: Int
    var byteCount: Int
    var format: OperandFormat
  }

  private let executable: VulkanExecutable
  private let storages: BoundStorages
  private let context: VulkanContext
  private var views: [ViewKey: VkBufferView] = [:]

  init(_ executable: VulkanExecutable, _ storages: BoundStorages) {
    self.executable = executable
    self.storages = storages
    context = executable.device.context
  }

  func takeViews() -> [VkBufferView] { Array(views.values) }

  func destroyViews() {
    let made = takeViews()
    context.free { [context] in
      for view in made { context.vk.vkDestroyBufferView!(context.device, view, nil) }
    }
    views = [:]
  }

  /// A pool with room for one set of descriptors a piece; nil where there are none.
  func makePool() throws(DeviceError) -> VkDescriptorPool? {
    let dispatches = executable.lowered.dispatches
    let count = UInt32(executable.submissions.reduce(0) { $0 + $1.count })
    guard count > 0 else { return nil }
    let reads = executable.submissions.joined().reduce(0) { $0 + UInt32(dispatches[$1.dispatch].reads.count) }
    let sizes = [
      VkDescriptorPoolSize(type: VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, descriptorCount: count),
      VkDescriptorPoolSize(
        type: executable.device.pipelines.operandType,
        descriptorCount: max(reads, count * UInt32(VulkanPipelines.operandBindings))),
    ]
    var pool: VkDescriptorPool?
    let result = sizes.withUnsafeBufferPointer { sizes in
      var information = VkDescriptorPoolCreateInfo()
      information.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO
      information.maxSets = count
      information.poolSizeCount = UInt32(sizes.count)
      information.pPoolSizes = sizes.baseAddress
      return context.vk.vkCreateDescriptorPool!(context.device, &information, nil, &pool)
    }
    try context.check(result, "vkCreateDescriptorPool")
    return pool
  }

  /// - Parameter submission: the number of the submission that the commands are.
  func record(
    _ commands: VulkanCommands, submission: Int, pool: VkDescriptorPool?, timestamps: Timestamps?
  ) throws(DeviceError) {
    let (vk, layout) = (context.vk, executable.device.pipelines.layout)
    let compute = VK_PIPELINE_BIND_POINT_COMPUTE
    try commands.record(context) { (buffer: VkCommandBuffer) throws(DeviceError) in
      commands.barrier(buffer, .start)
      if let timestamps, submission == 0 {
        vk.vkCmdResetQueryPool!(buffer, timestamps.pool, 0, UInt32(timestamps.count))
        vk.vkCmdWriteTimestamp!(buffer, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, timestamps.pool, 0)
      }
      var hazards = Hazards()
      var bound: VulkanPipeline?
      for (position, piece) in executable.submissions[submission].enumerated() {
        let (index, dispatch) = (piece.dispatch, executable.lowered.dispatches[piece.dispatch])
        var reads: [BoundStorages.Range] = []
        for storage in dispatch.reads { reads.append(try storages.resolve(storage)) }
        let write = try storages.resolve(dispatch.write)
        if hazards.needsBarrier(reads: reads, write: write) || (timestamps != nil && position > 0) {
          commands.barrier(buffer, .computeToCompute)
          hazards = Hazards()
        }
        hazards.add(reads: reads, write: write)
        if bound != executable.pipelines[index] {
          bound = executable.pipelines[index]
          vk.vkCmdBindPipeline!(buffer, compute, executable.pipelines[index].handle)
        }
        var set: VkDescriptorSet? = try descriptors(dispatch.call.program.formats, reads, write, pool)
        vk.vkCmdBindDescriptorSets!(buffer, compute, layout, 0, 1, &set, 0, nil)
        dispatch.call.parameters.withUnsafeBytes { bytes in
          let stage = VK_SHADER_STAGE_COMPUTE_BIT.rawValue
          vk.vkCmdPushConstants!(buffer, layout, stage, 0, UInt32(bytes.count), bytes.baseAddress)
        }
        let (base, groups) = (piece.origin.map(UInt32.init), piece.grid.map(UInt32.init))
        if piece.isPart {
          vk.vkCmdDispatchBase!(buffer, base[0], base[1], base[2], groups[0], groups[1], groups[2])
        } else {
          vk.vkCmdDispatch!(buffer, groups[0], groups[1], groups[2])
        }
        if let timestamps, piece.isLast {
          vk.vkCmdWriteTimestamp!(buffer, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, timestamps.pool, UInt32(index + 1))
        }
      }
      commands.barrier(buffer, .end)
    }
  }

  private func descriptors(
    _ formats: [OperandFormat], _ reads: [BoundStorages.Range], _ write: BoundStorages.Range, _ pool: VkDescriptorPool?
  ) throws(DeviceError) -> VkDescriptorSet {
    let (vk, device) = (context.vk, context.device)
    var set: VkDescriptorSet?
    let result = withUnsafePointer(to: Optional(executable.device.pipelines.setLayout)) { layout in
      var information = VkDescriptorSetAllocateInfo()
      information.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO
      information.descriptorPool = pool
      information.descriptorSetCount = 1
      information.pSetLayouts = layout
      return vk.vkAllocateDescriptorSets!(device, &information, &set)
    }
    try context.check(result, "vkAllocateDescriptorSets")
    guard let set else { throw context.error(.execution, "vkAllocateDescriptorSets", "it gave no set") }
    // A binding that a shader names must be valid, even where its specialisation never reads it.
    let spare = reads.isEmpty ? 0 : max(0, VulkanPipelines.operandBindings - reads.count)
    let operands = reads + [BoundStorages.Range](repeating: reads.first ?? write, count: spare)
    let isTexels = executable.device.pipelines.operandType == VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER
    var texels: [VkBufferView?] = []
    if isTexels {
      for (index, range) in operands.enumerated() {
        texels.append(try view(range, formats[index < formats.count ? index : 0]))
      }
    }
    let buffers = ([write] + operands).map { range in
      VkDescriptorBufferInfo(
        buffer: range.buffer.allocation.buffer, offset: VkDeviceSize(range.offset),
        range: VkDeviceSize(rounded(range, to: 16)))
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
          if index > 0, isTexels {
            binding.descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER
            binding.pTexelBufferView = texels.baseAddress.map { $0 + (index - 1) }
          } else {
            binding.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
            binding.pBufferInfo = buffers.baseAddress.map { $0 + index }
          }
          writes.append(binding)
        }
        vk.vkUpdateDescriptorSets!(device, UInt32(writes.count), writes, 0, nil)
      }
    }
    return set
  }

  /// The bytes from the range's start up to a whole number of `unit`s; buffers end at a multiple of `bufferAlignment`.
  private func rounded(_ range: BoundStorages.Range, to unit: Int) -> Int {
    (max(range.byteCount, 1) + unit - 1) / unit * unit
  }

  private func view(_ range: BoundStorages.Range, _ format: OperandFormat) throws(DeviceError) -> VkBufferView {
    let byteCount = rounded(range, to: format.byteCount)
    let key = ViewKey(
      buffer: ObjectIdentifier(range.buffer), offset: range.offset, byteCount: byteCount, format: format)
    if let view = views[key] { return view }
    var information = VkBufferViewCreateInfo()
    information.sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO
    information.buffer = range.buffer.allocation.buffer
    information.offset = VkDeviceSize(range.offset)
    information.range = VkDeviceSize(byteCount)
    information.format = format.texel
    var view: VkBufferView?
    try context.check(context.vk.vkCreateBufferView!(context.device, &information, nil, &view), "vkCreateBufferView")
    guard let view else { throw context.error(.execution, "vkCreateBufferView", "it gave no view") }
    views[key] = view
    return view
  }
}

/// What dispatches since the last barrier read and wrote.
private struct Hazards {
  private var reads: [BoundStorages.Range] = []
  private var writes: [BoundStorages.Range] = []

  /// Whether a dispatch must wait for those before it.
  func needsBarrier(reads: [BoundStorages.Range], write: BoundStorages.Range) -> Bool {
    writes.contains { earlier in earlier.overlaps(write) || reads.contains { $0.overlaps(earlier) } }
      || self.reads.contains { $0.overlaps(write) }
  }

  mutating func add(reads: [BoundStorages.Range], write: BoundStorages.Range) {
    self.reads += reads
    writes.append(write)
  }
}
