import CKelvinSupport
import KelvinDevices
import Synchronization

/// Makes a driver finish compilation that it defers to the first run of a pipeline, while other pipelines are still
/// being made. Each pipeline is dispatched over zero groups. Software drivers compile on the single thread of their
/// queue.
final class PipelineWarmup: @unchecked Sendable {
  private struct State: @unchecked Sendable {
    var pools: [VkDescriptorPool] = []
    var runs: [(commands: VulkanCommands, submission: DeviceHealth.Submission)] = []
    let sets: OperandSets
  }

  private let context: VulkanContext
  private let layout: VkPipelineLayout
  /// The memory bound to all operands of the pipelines.
  private let memory: BoundStorages.Range
  private let state: DeviceLock<State>

  init(_ context: VulkanContext, _ pipelines: VulkanPipelines) throws(DeviceError) {
    self.context = context
    layout = pipelines.layout
    let buffer = try VulkanBuffer.make(context, byteCount: bufferAlignment)
    memory = BoundStorages.Range(buffer: buffer, offset: 0, byteCount: bufferAlignment)
    state = DeviceLock(State(sets: OperandSets(context, pipelines)))
  }

  deinit {
    try? finish()
    context.free { [context, state] in
      try? state.withLock(context.health) { (state) throws(DeviceError) in
        for run in state.runs { run.commands.destroy() }
        for pool in state.pools { context.vk.vkDestroyDescriptorPool!(context.device, pool, nil) }
        for view in state.sets.takeViews() { context.vk.vkDestroyBufferView!(context.device, view, nil) }
      }
    }
  }

  /// - Parameter formats: the formats of the operands that the pipeline reads.
  func rehearse(_ pipeline: VkPipeline, reading formats: [OperandFormat]) throws(DeviceError) {
    try state.withLock(context.health) { (state: inout State) throws(DeviceError) in
      let pool = try state.sets.makePool(sets: 1, operands: formats.count)
      state.pools.append(pool)
      let reads = formats.map { _ in memory }
      var set: VkDescriptorSet? = try state.sets.makeSet(formats, reads, memory, from: pool)
      let commands = try VulkanCommands(context)
      do throws(DeviceError) {
        try commands.record(context) { [context, layout] buffer in
          let compute = VK_PIPELINE_BIND_POINT_COMPUTE
          context.vk.vkCmdBindPipeline!(buffer, compute, pipeline)
          context.vk.vkCmdBindDescriptorSets!(buffer, compute, layout, 0, 1, &set, 0, nil)
          let parameters = [UInt8](repeating: 0, count: VulkanPipelines.parameterByteCount)
          let stage = VK_SHADER_STAGE_COMPUTE_BIT.rawValue
          context.vk.vkCmdPushConstants!(buffer, layout, stage, 0, UInt32(parameters.count), parameters)
          context.vk.vkCmdDispatch!(buffer, 0, 0, 0)
        }
        state.runs.append((commands, try commands.submit(context, mayCompile: true)))
      } catch {
        commands.destroy()
        throw error
      }
    }
  }

  /// Waits until all pipelines are compiled.
  func finish() throws(DeviceError) {
    let runs = try state.withLock(context.health) { (state) throws(DeviceError) in state.runs }
    for run in runs { try context.wait(run.commands.fence, for: run.submission) }
  }
}
