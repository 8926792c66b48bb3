import CKelvinDrivers
package import KelvinDevices
import KelvinGPU
import Synchronization

/// A segment recorded on a session's buffers: one command buffer, submitted as it is each time.
package final class VulkanInvocation: Invocation {
  private let executable: VulkanExecutable
  private let event: VulkanEvent
  private let views: [VkBufferView]
  private let descriptorPool: VkDescriptorPool?
  private let timestamps: Timestamps?
  /// Keeps the session's memory alive.
  private let buffers: [any Buffer]

  init(_ executable: VulkanExecutable, _ bindings: Bindings) throws(DeviceError) {
    let context = executable.device.context
    self.executable = executable
    buffers = (bindings.inputs + bindings.outputs + [bindings.scratch].compactMap { $0 }).map(\.buffer)
    event = VulkanEvent(context, try VulkanCommands(context))
    let recorder = DispatchRecorder(executable, try BoundStorages(executable, bindings))
    descriptorPool = try recorder.makePool()
    timestamps =
      bindings.measuresNodes && context.properties.timestampBits > 0
      ? try Timestamps(context, count: executable.lowered.dispatches.count + 1) : nil
    do throws(DeviceError) {
      try recorder.record(event.commands, pool: descriptorPool, timestamps: timestamps)
      views = recorder.takeViews()
    } catch {
      recorder.destroyViews()
      if let descriptorPool { context.vk.vkDestroyDescriptorPool!(context.device, descriptorPool, nil) }
      throw error
    }
  }

  deinit {
    let context = executable.device.context
    try? event.wait()
    for view in views { context.vk.vkDestroyBufferView!(context.device, view, nil) }
    if let descriptorPool { context.vk.vkDestroyDescriptorPool!(context.device, descriptorPool, nil) }
  }

  package var completion: any Event { event }

  package func submit(after events: [any Event]) throws(DeviceError) {
    for other in events {
      // Work on this device's one queue is ordered by the recorded barriers.
      if let other = other as? VulkanEvent, other.context === event.context { continue }
      try other.wait()
    }
    try event.submit()
  }

  package var nodeTimings: [NodeTiming] {
    guard let times = timestamps?.seconds() else { return [] }
    var timings: [NodeTiming] = []
    var index: [String: Int] = [:]
    for (name, (start, end)) in zip(executable.lowered.nodes, zip(times, times.dropFirst())) {
      if let known = index[name] {
        timings[known].seconds += end - start
      } else {
        index[name] = timings.count
        timings.append(NodeTiming(node: name, start: start, seconds: end - start, clock: .device))
      }
    }
    return timings
  }
}

/// The completion of an invocation's latest submission.
package final class VulkanEvent: Event, @unchecked Sendable {
  let context: VulkanContext
  let commands: VulkanCommands
  /// False after a submission that the driver refused: its fence will never be signalled.
  private let isPending = Atomic(false)

  init(_ context: VulkanContext, _ commands: VulkanCommands) {
    self.context = context
    self.commands = commands
  }

  deinit {
    try? wait()
    commands.destroy()
  }

  func submit() throws(DeviceError) {
    isPending.store(false, ordering: .releasing)
    try commands.submit(context)
    isPending.store(true, ordering: .releasing)
  }

  package func wait() throws(DeviceError) {
    guard isPending.load(ordering: .acquiring) else { return }
    try commands.wait(context)
  }
}

/// The times at which dispatches ended, in the device's clock.
final class Timestamps: @unchecked Sendable {
  let pool: VkQueryPool
  let count: Int
  private let context: VulkanContext

  init(_ context: VulkanContext, count: Int) throws(DeviceError) {
    self.context = context
    self.count = count
    var information = VkQueryPoolCreateInfo()
    information.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO
    information.queryType = VK_QUERY_TYPE_TIMESTAMP
    information.queryCount = UInt32(count)
    var pool: VkQueryPool?
    try context.check(context.vk.vkCreateQueryPool!(context.device, &information, nil, &pool), "vkCreateQueryPool")
    guard let pool else { throw context.error(.execution, "vkCreateQueryPool", "it gave no pool") }
    self.pool = pool
  }

  deinit { context.vk.vkDestroyQueryPool!(context.device, pool, nil) }

  /// Seconds since the first, ascending; nil before the first submission has completed.
  func seconds() -> [Double]? {
    var ticks = [UInt64](repeating: 0, count: count)
    let flags = VK_QUERY_RESULT_64_BIT.rawValue
    let result = ticks.withUnsafeMutableBytes {
      context.vk.vkGetQueryPoolResults!(context.device, pool, 0, UInt32(count), $0.count, $0.baseAddress, 8, flags)
    }
    guard result == VK_SUCCESS, let first = ticks.first else { return nil }
    let bits = context.properties.timestampBits
    let mask = bits >= 64 ? UInt64.max : 1 << UInt64(bits) - 1
    let period = Double(context.properties.limits.timestampPeriod) * 1e-9
    return ticks.map { Double(($0 &- first) & mask) * period }
  }
}
