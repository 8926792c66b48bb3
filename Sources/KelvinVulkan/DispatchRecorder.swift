import CKelvinSupport
import KelvinDevices
import KelvinGPU

/// Records an executable's dispatches on an invocation's memory: descriptors, barriers between dependent dispatches,
/// copies from and to staged values around them, copies of streamed weights between them, and timestamps if requested.
final class DispatchRecorder {
  private let executable: VulkanExecutable
  private let storages: BoundStorages
  private let staged: StagedValues
  private var parcels: ParcelRecorder
  private let context: VulkanContext
  private let sets: OperandSets

  init(
    _ executable: VulkanExecutable, _ storages: BoundStorages, _ staged: StagedValues, _ parcels: ParcelRecorder
  ) {
    self.executable = executable
    self.parcels = parcels
    self.staged = staged
    self.storages = storages
    context = executable.device.context
    sets = OperandSets(context, executable.device.pipelines)
  }

  /// Returns the views that the recorded sets refer to. The caller destroys them.
  func takeViews() -> [VkBufferView] { sets.takeViews() }

  /// Returns a pool with room for one descriptor set for each dispatch slice; nil if there are no slices.
  func makePool() throws(DeviceError) -> VkDescriptorPool? {
    let dispatches = executable.lowered.dispatches
    let pieces = executable.submissions.joined()
    guard !pieces.isEmpty else { return nil }
    let reads = pieces.reduce(0) { $0 + dispatches[$1.dispatch].reads.count }
    return try sets.makePool(sets: pieces.count, operands: reads)
  }

  /// Records a submission, after all submissions before it.
  ///
  /// - Parameter submission: the index of the submission to record.
  func record(
    _ commands: VulkanCommands, submission: Int, pool: VkDescriptorPool?, timestamps: Timestamps?
  ) throws(DeviceError) {
    let (vk, layout) = (context.vk, executable.device.pipelines.layout)
    let compute = VK_PIPELINE_BIND_POINT_COMPUTE
    try commands.record(context) { (buffer: VkCommandBuffer) throws(DeviceError) in
      if submission == 0, !staged.uploads.isEmpty {
        commands.barrier(buffer, .everythingToTransfer)
        staged.record(staged.uploads, buffer)
      }
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
        if dispatch.isIdentity, timestamps == nil, reads[0].isSame(as: write) { continue }
        parcels.prepare(dispatch: index, commands, buffer)
        let writes = reads.prefix(dispatch.furtherWrites) + [write]
        if hazards.needsBarrier(reads: reads, writes: writes) || (timestamps != nil && position > 0) {
          commands.barrier(buffer, .computeToCompute)
          hazards = Hazards()
        }
        hazards.add(reads: reads, writes: writes)
        if bound != executable.pipelines[index] {
          bound = executable.pipelines[index]
          vk.vkCmdBindPipeline!(buffer, compute, executable.pipelines[index].handle)
        }
        var set: VkDescriptorSet? = try sets.makeSet(dispatch.call.program.formats, reads, write, from: pool)
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
      if submission == executable.submissions.count - 1, !staged.downloads.isEmpty {
        staged.record(staged.downloads, buffer)
        commands.barrier(buffer, .transferToEverything)
      }
    }
  }
}

/// The ranges that dispatches since the last barrier read and wrote.
private struct Hazards {
  private var reads: [BoundStorages.Range] = []
  private var writes: [BoundStorages.Range] = []

  /// Whether a dispatch must wait for earlier dispatches.
  func needsBarrier(reads: [BoundStorages.Range], writes: ArraySlice<BoundStorages.Range>) -> Bool {
    self.writes.contains { earlier in (writes + reads).contains { $0.overlaps(earlier) } }
      || self.reads.contains { earlier in writes.contains { $0.overlaps(earlier) } }
  }

  mutating func add(reads: [BoundStorages.Range], writes: ArraySlice<BoundStorages.Range>) {
    self.reads += reads
    self.writes += writes
  }
}
