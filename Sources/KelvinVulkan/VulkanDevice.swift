import CKelvinSupport
package import KelvinDevices
import KelvinGPU
package import KelvinGraph
import Synchronization

/// A device reached through Vulkan 1.1 compute: a GPU, or a driver that runs on the CPU.
package final class VulkanDevice: KernelDevice, @unchecked Sendable {
  package let info: DeviceInfo
  let properties: VulkanProperties
  let context: VulkanContext
  package var health: DeviceHealth { context.health }
  let pipelines: VulkanPipelines
  let weights: VulkanWeights
  private let kernelTrust: KernelTrust
  package var trust: KernelTrust? { kernelTrust }
  private let kernels: GPUKernels<VulkanTarget>
  /// Whether float16 elements are stored as float16 inside a segment.
  package let storesHalves: Bool
  /// Whether products at low precision may be computed in float16.
  package let multipliesHalves: Bool
  /// Whether subgroups multiply matrices of float16.
  package let multipliesMatrices: Bool
  /// Whether the driver checks every access to a buffer. Kernels of other devices never access more than their
  /// operands.
  package var checksBounds: Bool { context.checksBounds }
  /// Whether large weights are read in the host memory that they are packed in.
  package var readsHostMemory: Bool { properties.memoryImport != nil }

  private init(_ instance: VulkanInstance, _ physical: VkPhysicalDevice, index: Int, options: VulkanOptions)
    throws(DeviceError)
  {
    let properties = try VulkanProperties(physical, instance.vk, imitating: options.imitation)
    self.properties = properties
    info = properties.info(index: index)
    let traits = VulkanTraits(properties)
    storesHalves = traits.storesHalves
    multipliesHalves = traits.multipliesHalves
    multipliesMatrices = traits.cooperativeMatrix != nil
    kernelTrust = KernelTrust(driver: info.driver, identity: PipelineBlob.identity(properties, traits))
    kernels = GPUKernels(VulkanTarget(device: info.id, traits: traits), trust: kernelTrust)
    context = try VulkanContext(
      instance, physical, properties, id: info.id, traits: traits, patience: options.patience)
    pipelines = try VulkanPipelines(context, traits)
    weights = VulkanWeights(context)
  }

  /// Returns every Vulkan device of this machine, or the reason why there is none.
  package static func discover() -> [DeviceListing] { discover(options: VulkanOptions()) }

  package static func discover(options: VulkanOptions) -> [DeviceListing] {
    // A driver that hangs during discovery is not called again.
    let health = DeviceHealth(patience: options.patience)
    do throws(DeviceError) {
      return try health.guarded("vulkan", "looking for devices", .compiling) { () throws(DeviceError) in
        listings(options)
      }
    } catch {
      return [missing(error, index: 0)]
    }
  }

  private static func missing(_ error: DeviceError, index: Int, name: String = "Vulkan") -> DeviceListing {
    let info = DeviceInfo(
      id: "vulkan:\(index)", name: name, kind: .discreteGPU, driver: "", version: "", memory: 0,
      resource: "vulkan:\(index)")
    return DeviceListing(missing: info, reason: error.reason)
  }

  private static func listings(_ options: VulkanOptions) -> [DeviceListing] {
    let instance: VulkanInstance
    do { instance = try VulkanInstance(options: options) } catch { return [missing(error, index: 0)] }
    let physical = instance.physicalDevices
    guard !physical.isEmpty else {
      return [missing(.absent("no driver found a device; install one, for instance mesa-vulkan-drivers"), index: 0)]
    }
    return physical.enumerated().map { index, physical in
      do throws(DeviceError) {
        return DeviceListing(try VulkanDevice(instance, physical, index: index, options: options))
      } catch {
        return missing(error, index: index)
      }
    }
  }

  /// The messages of the validation layer so far; empty if it is not enabled.
  package var validationMessages: [String] { context.instance.log.messages }

  /// Whether the validation layer is enabled.
  package var isValidated: Bool { context.instance.isValidated }

  package var streamsWeights: Bool { info.kind == .discreteGPU }

  package var kernelFamily: any KernelFamily { kernels }

  package func packedByteCounts(of node: Node, in graph: Graph, precision: Precision) -> [String: Int]? {
    kernels.packedByteCounts(of: node, in: graph, precision: precision)
  }

  /// Returns the rows of `Shaders/variants.txt` that a segment uses before tuning.
  package func shaders(of segment: Segment) throws(DeviceError) -> Set<String> {
    Set(try kernels.lower(segment).0.dispatches.map(\.call.program.pipeline.variant))
  }

  package func compile(_ segment: Segment) throws(DeviceError) -> any Executable {
    try health.check()
    health.allow(segment.limit)
    return try context.guarded("compilation", .compiling) { [self] () throws(DeviceError) in
      var selection = try kernels.selection(for: segment)
      try tune(&selection, for: segment)
      return try executable(selection, segment, pipelines)
    }
  }

  /// Selects the fastest kernels by measurement. The pipelines of candidates are released afterwards.
  private func tune(
    _ selection: inout KernelSelection<NodeLowering<VulkanTarget>>, for segment: Segment
  ) throws(DeviceError) {
    var tried: VulkanPipelines?
    var (memory, node) = (TrialMemory(), "")
    try selection.tune(for: segment, on: info, kernels: PipelineBlob.identity(properties, kernels.target.traits)) {
      (one, alone) throws(DeviceError) in
      if tried == nil { tried = try VulkanPipelines(context, kernels.target.traits) }
      guard let library = tried else { preconditionFailure("it was made above") }
      let executable = try executable(one, alone, library, isTrial: true)
      if node != alone.graph.nodes[0].name { (memory, node) = (TrialMemory(), alone.graph.nodes[0].name) }
      return try NodeTrial(executable, of: alone.graph, on: self, in: memory)
    }
  }

  private func executable(
    _ selection: KernelSelection<NodeLowering<VulkanTarget>>, _ segment: Segment, _ library: VulkanPipelines,
    isTrial: Bool = false
  ) throws(DeviceError) -> VulkanExecutable {
    let store = weights.store(for: segment.weights)
    let (lowered, packing) = try kernels.lower(selection, segment, isTrial: isTrial)
    for (call, node) in zip(lowered.dispatches.map(\.call), lowered.nodes) { try check(call, of: node) }
    let submissions = lowered.submissions(expecting: segment.expectedSeconds)
    let split = Set(submissions.joined().filter(\.isPart).map(\.dispatch))
    let programs = lowered.dispatches.map(\.call.program)
    let keys = programs.enumerated().map { index, program in
      var key = program.pipeline
      key.hasBase = split.contains(index)
      return key
    }
    let owners = lowered.weights(ownedBy: segment.streamed)
    let (made, (weights, streams)) = try health.beside(
      info.id, "pipelines", .compiling,
      { [library, nodes = lowered.nodes, blobs = segment.blobs] () throws(DeviceError) in
        try library.pipelines(for: keys, reading: programs.map(\.formats), of: nodes, blobs: blobs)
      },
      while: { () throws(DeviceError) in
        var (index, hosted): (Int, [Int: Bytes]) = (0, [:])
        let weights = try packing.packed { (weight) throws(DeviceError) -> VulkanWeight? in
          defer { index += 1 }
          guard owners[index] != nil else {
            return try store.weight(weight.key, byteCount: weight.byteCount, fill: weight.fill)
          }
          hosted[index] = try store.packed(weight.key, byteCount: weight.byteCount, fill: weight.fill)
          return nil
        }
        segment.didPack()
        try store.finish()
        let streams = try StreamedWeights(lowered, owners: owners, packed: hosted, context)
        try store.makeRoom(forParcelsOf: streams.placeByteCount)
        return (weights, streams)
      })
    return VulkanExecutable(
      self, lowered, submissions, pipelines: made, of: library, weights: weights, streams: streams,
      store: store, watchdog: segment.watchdog)
  }

  /// - Throws: `.unsupported` if a grid has more groups along a side than the device supports.
  private func check(_ call: KernelDispatch<VulkanProgram>, of node: String) throws(DeviceError) {
    let counts = properties.limits.maxComputeWorkGroupCount
    let limits = [counts.0, counts.1, counts.2].map(Int.init)
    guard let side = limits.indices.first(where: { call.grid[$0] > limits[$0] }) else { return }
    throw context.error(
      .unsupported, "pipeline '\(call.program.pipeline.shader)'",
      "a grid of \(call.grid[side]) groups along \("xyz".dropFirst(side).prefix(1)), where the device runs "
        + "\(limits[side]) (maxComputeWorkGroupCount)"
    ).compiling([node])
  }

  /// The driver's budget without the memory in use, where the driver reports it (`VK_EXT_memory_budget`). A software
  /// driver whose heap is the machine's memory has no budget of its own.
  package var freeMemory: Int? {
    guard properties.hasMemoryBudget, let heap = VulkanAllocation.heap(properties),
      properties.kind != .software || info.memory < HostMemory.limit
    else { return unheldMemory }
    let context = context
    return (try? context.guarded("memory budget") { context.freeMemory(inHeap: heap) }) ?? unheldMemory
  }

  package func makeBuffer(byteCount: Int) throws(DeviceError) -> any Buffer {
    try VulkanBuffer.make(context, byteCount: byteCount)
  }
}
