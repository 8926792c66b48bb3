import CKelvinSupport
package import KelvinDevices
import KelvinGPU
import Synchronization

/// A compiled segment: its dispatches, each with its pipeline, and the weights they read.
package final class VulkanExecutable: Executable, @unchecked Sendable {
  package var scratchByteCount: Int { lowered.scratchByteCount }
  package var kernels: [String: String] { lowered.kernels }
  let device: VulkanDevice
  let lowered: LoweredSegment<VulkanTarget>
  /// The dispatch slices that are submitted together.
  let submissions: [[DispatchSlice]]
  /// The pipeline of each dispatch.
  let pipelines: [VulkanPipeline]
  /// The weights that stay on the device, by their index in storages; nil for those of `streams`.
  let weights: [VulkanWeight?]
  let streams: StreamedWeights
  let watchdog: Watchdog
  /// Whether a run has ended. Some drivers compile in the first one.
  let hasRun = Atomic(false)
  private let store: VulkanWeightStore
  /// The library, which keeps the pipelines alive.
  private let library: VulkanPipelines

  init(
    _ device: VulkanDevice, _ lowered: LoweredSegment<VulkanTarget>, _ submissions: [[DispatchSlice]],
    pipelines: [VulkanPipeline], of library: VulkanPipelines, weights: [VulkanWeight?], streams: StreamedWeights,
    store: VulkanWeightStore, watchdog: Watchdog
  ) {
    self.library = library
    self.submissions = submissions
    self.watchdog = watchdog
    self.device = device
    self.lowered = lowered
    self.pipelines = pipelines
    self.weights = weights
    self.streams = streams
    self.store = store
  }

  /// Returns the buffers in which streamed weights take turns; none if there are no such weights.
  func ring() throws(DeviceError) -> [VulkanBuffer] { streams.parcels.isEmpty ? [] : try store.ring() }

  package func bind(_ bindings: Bindings) throws(DeviceError) -> any Invocation {
    try device.context.guarded("recording") { [self] () throws(DeviceError) in try VulkanInvocation(self, bindings) }
  }
}
