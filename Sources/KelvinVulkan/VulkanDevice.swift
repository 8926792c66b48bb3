import CKelvinDrivers
package import KelvinDevices
package import KelvinGraph
import Synchronization

/// A device reached through Vulkan 1.1 compute: a GPU, or a driver that runs on the CPU.
package final class VulkanDevice: KernelDevice, @unchecked Sendable {
  package let info: DeviceInfo
  let properties: VulkanProperties
  let traits: VulkanTraits
  let context: VulkanContext
  let pipelines: VulkanPipelines
  let weights: VulkanWeights

  private init(_ instance: VulkanInstance, _ physical: VkPhysicalDevice, index: Int, options: VulkanOptions)
    throws(DeviceError)
  {
    properties = try VulkanProperties(physical, instance.vk)
    info = properties.info(index: index)
    traits = VulkanTraits(properties, options: options)
    context = try VulkanContext(instance, physical, properties, id: info.id)
    pipelines = try VulkanPipelines(context)
    weights = VulkanWeights(context)
  }

  /// Every Vulkan device of this machine, or why there is none.
  package static func discover() -> [DeviceListing] { discover(options: VulkanOptions()) }

  package static func discover(options: VulkanOptions) -> [DeviceListing] {
    func missing(_ error: DeviceError, index: Int, name: String = "Vulkan") -> DeviceListing {
      let info = DeviceInfo(
        id: "vulkan:\(index)", name: name, kind: .discreteGPU, driver: "", version: "", memory: 0,
        resource: "vulkan:\(index)")
      return DeviceListing(missing: info, reason: error.reason)
    }
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

  /// What the validation layer has said so far; empty where it does not watch.
  package var validationMessages: [String] { context.instance.log.messages }

  /// Whether the validation layer watches.
  package var isValidated: Bool { context.instance.isValidated }

  package func checkKernel(for node: Node, in graph: Graph) throws(DeviceError) { _ = try kernel(for: node, in: graph) }

  private func kernel(for node: Node, in graph: Graph) throws(DeviceError) -> Kernel {
    let context = KernelContext(node, graph, traits)
    guard let kernel = try kernelCatalog.kernel(for: node.op, context) else {
      throw context.unsupported("no kernel for \(node.op.name)")
    }
    if let type = context.firstOversized {
      throw context.unsupported("\(type) is larger than this driver lets a kernel see at once")
    }
    return kernel
  }

  package func compile(_ segment: Segment) throws(DeviceError) -> any Executable {
    let expanded = expanded(segment.graph)
    let builder = SegmentBuilder(expanded.graph, traits, weights.store(for: segment.weights), device: info.id)
    for (index, node) in expanded.graph.nodes.enumerated() {
      try segment.begin(node: index, of: expanded.graph.nodes.count, device: info.id)
      let kernel = try kernel(for: node, in: expanded.graph)
      builder.node = index
      try kernel.build(builder)
    }
    try builder.finish()
    let keys = builder.steps.map(\.pipeline)
    return VulkanExecutable(
      self, builder, pipelines: try pipelines.pipelines(for: keys, blobs: segment.blobs),
      nodes: expanded.parents)
  }

  package func makeBuffer(byteCount: Int) throws(DeviceError) -> any Buffer {
    try VulkanBuffer(context, byteCount: byteCount)
  }
}
