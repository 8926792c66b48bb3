import CKelvinDrivers
package import KelvinDevices

/// A compiled segment: steps, their pipelines, the weights they read and the plan of the scratch memory.
package final class VulkanExecutable: Executable, @unchecked Sendable {
  package let scratchByteCount: Int
  let device: VulkanDevice
  let steps: [Step]
  let pipelines: [VulkanPipeline]
  let weights: [VulkanWeight]
  /// Where each scratch value lies in the scratch memory.
  let scratchOffsets: [Int]
  /// The name that each node of the compiled graph reports its time under.
  let nodes: [String]
  private let store: VulkanWeightStore

  init(_ device: VulkanDevice, _ builder: SegmentBuilder, pipelines: [VulkanPipeline], nodes: [String]) {
    self.device = device
    self.pipelines = pipelines
    self.nodes = nodes
    steps = builder.steps
    weights = builder.weights
    store = builder.store
    var lifetimes: [ClosedRange<Int>?] = builder.scratch.map { _ in nil }
    for (index, step) in builder.steps.enumerated() {
      for region in step.reads.map(\.region) + [step.write] {
        guard case .scratch(let value) = region.place else { continue }
        lifetimes[value] = (lifetimes[value]?.lowerBound ?? index)...index
      }
    }
    let plan = ArenaPlan(
      zip(builder.scratch, lifetimes).map { size, steps in
        ArenaPlan.Lifetime(byteCount: steps == nil ? 0 : size, steps: steps ?? 0...0)
      })
    scratchOffsets = plan.offsets
    scratchByteCount = plan.byteCount
  }

  package func bind(_ bindings: Bindings) throws(DeviceError) -> any Invocation {
    try VulkanInvocation(self, bindings)
  }
}
