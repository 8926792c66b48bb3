import CKelvinSupport
package import KelvinDevices
import KelvinGPU
import Synchronization

/// A segment recorded on a session's buffers. Its command buffers are submitted unchanged for each run.
package final class VulkanInvocation: Invocation {
  private let executable: VulkanExecutable
  private let event: VulkanEvent
  private let views: [VkBufferView]
  private let descriptorPool: VkDescriptorPool?
  private let timestamps: Timestamps?
  /// The buffers, which keep the session's memory alive.
  private let buffers: [any Buffer]
  private let staged: StagedValues
  private let ring: [VulkanBuffer]

  init(_ executable: VulkanExecutable, _ bindings: Bindings) throws(DeviceError) {
    let context = executable.device.context
    try context.health.check()
    self.executable = executable
    buffers = (bindings.inputs + bindings.outputs + [bindings.scratch].compactMap { $0 }).map(\.buffer)
    event = try VulkanEvent(context, submissions: executable.submissions.count, watchdog: executable.watchdog) {
      executable.hasRun.store(true, ordering: .relaxed)
    }
    ring = try executable.ring()
    let storages = try BoundStorages(executable, bindings, ring: ring)
    staged = try StagedValues(context, bindings)
    let recorder = DispatchRecorder(executable, storages, staged, ParcelRecorder(executable.streams, into: ring))
    timestamps =
      bindings.measuresNodes && context.properties.timestampBits > 0
      ? try Timestamps(context, count: executable.lowered.dispatches.count + 1) : nil
    descriptorPool = try recorder.makePool()
    do throws(DeviceError) {
      for (index, commands) in event.commands.enumerated() {
        try recorder.record(commands, submission: index, pool: descriptorPool, timestamps: timestamps)
      }
      views = recorder.takeViews()
    } catch {
      Self.free(recorder.takeViews(), descriptorPool, context)
      throw error
    }
  }

  deinit {
    try? event.wait()
    Self.free(views, descriptorPool, executable.device.context)
  }

  private static func free(_ views: [VkBufferView], _ pool: VkDescriptorPool?, _ context: VulkanContext) {
    context.free { [context] in
      for view in views { context.vk.vkDestroyBufferView!(context.device, view, nil) }
      if let pool { context.vk.vkDestroyDescriptorPool!(context.device, pool, nil) }
    }
  }

  package var completion: any Event { event }
  package var stagedInputs: [Int: BufferSlice] { staged.inputs }
  package var stagedOutputs: [Int: BufferSlice] { staged.outputs }

  package func submit() throws(DeviceError) {
    let isFirst = !executable.hasRun.load(ordering: .relaxed)
    try event.context.guarded("submission", isFirst ? .compiling : .short) { [event] () throws(DeviceError) in
      try event.submit(mayCompile: isFirst)
    }
  }

  package var nodeTimings: [NodeTiming] {
    guard let timestamps else { return [] }
    let measured = try? event.context.guarded("times of nodes") { () throws(DeviceError) in timestamps.seconds() }
    guard let times = measured ?? nil else { return [] }
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

/// The completion of all submissions of an invocation's latest run; the queue executes them in order.
package final class VulkanEvent: Event, @unchecked Sendable {
  let context: VulkanContext
  let commands: [VulkanCommands]
  private let watchdog: Watchdog
  private let didEnd: @Sendable () -> Void
  /// The submissions of the latest run that the driver accepted. The fences of other submissions are never signalled.
  private let submissions = Mutex<[DeviceHealth.Submission]>([])

  /// - Parameter didEnd: called when a run has ended.
  init(
    _ context: VulkanContext, submissions: Int, watchdog: Watchdog, didEnd: @escaping @Sendable () -> Void
  ) throws(DeviceError) {
    self.context = context
    self.didEnd = didEnd
    self.watchdog = watchdog
    var commands: [VulkanCommands] = []
    do throws(DeviceError) {
      for _ in 0..<submissions { commands.append(try VulkanCommands(context)) }
    } catch {
      for made in commands { made.destroy() }
      throw error
    }
    self.commands = commands
  }

  deinit {
    try? wait()
    context.free { [commands] in for commands in commands { commands.destroy() } }
  }

  func submit(mayCompile: Bool) throws(DeviceError) {
    submissions.withLock { $0.removeAll(keepingCapacity: true) }
    for commands in commands {
      let submission = try commands.submit(context, mayCompile: mayCompile)
      submissions.withLock { $0.append(submission) }
    }
  }

  package func wait() throws(DeviceError) {
    let submissions = submissions.withLock { $0 }
    guard !submissions.isEmpty else { return }
    try context.guarded("vkWaitForFences") { [context, commands, watchdog] () throws(DeviceError) in
      for (commands, submission) in zip(commands, submissions) {
        let seconds = try context.wait(commands.fence, for: submission)
        context.health.allow(watchdog.limit(expecting: seconds))
      }
    }
    self.submissions.withLock { $0.removeAll(keepingCapacity: true) }
    didEnd()
  }
}

/// The times at which dispatches ended, by the device's clock.
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
    guard let pool else { throw context.error(.execution, "vkCreateQueryPool", "the driver returned no pool") }
    self.pool = pool
  }

  deinit {
    context.free { [context, pool] in context.vk.vkDestroyQueryPool!(context.device, pool, nil) }
  }

  /// Returns the seconds since the first timestamp, ascending; nil before the first submission has completed.
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
