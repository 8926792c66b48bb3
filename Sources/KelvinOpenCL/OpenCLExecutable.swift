internal import CKelvinSupport
package import KelvinDevices
internal import KelvinGPU
internal import KelvinGraph
internal import Synchronization

/// A compiled segment: its dispatches, whose programs are built.
package final class OpenCLExecutable: Executable, @unchecked Sendable {
  package var scratchByteCount: Int { lowered.scratchByteCount }
  package var kernels: [String: String] { lowered.kernels }
  let device: OpenCLDevice
  let lowered: LoweredSegment<OpenCLTarget>
  /// The dispatch slices that are submitted together.
  let submissions: [[DispatchSlice]]
  let watchdog: Watchdog
  /// Whether a run has ended. Some drivers compile in the first one.
  let hasRun = Atomic(false)
  /// The weights, by their index in storages.
  private let weights: [WeightBuffer]
  private let inputCount: Int
  private let outputCount: Int
  private let place: String

  init(
    _ device: OpenCLDevice, _ lowered: LoweredSegment<OpenCLTarget>, _ weights: [WeightBuffer], _ segment: Segment
  ) {
    self.device = device
    self.lowered = lowered
    self.weights = weights
    submissions = lowered.submissions(expecting: segment.expectedSeconds, group: device.tuning.group)
    watchdog = segment.watchdog
    inputCount = segment.graph.inputs.count
    outputCount = segment.graph.outputs.count
    place = segment.graph.nodes.first.map { "segment from '\($0.name)'" } ?? "empty segment"
  }

  package func bind(_ bindings: Bindings) throws(DeviceError) -> any Invocation {
    guard bindings.inputs.count == inputCount, bindings.outputs.count == outputCount else {
      throw failure(
        "expected \(inputCount) inputs and \(outputCount) outputs, got \(bindings.inputs.count) and "
          + "\(bindings.outputs.count)")
    }
    guard bindings.scratch?.byteCount ?? 0 >= scratchByteCount else {
      throw failure("expected \(scratchByteCount) bytes of scratch, got \(bindings.scratch?.byteCount ?? 0)")
    }
    return try device.health.guarded(device.info.id, place) { [self] () throws(DeviceError) in
      try OpenCLInvocation(self, bindings)
    }
  }

  /// Returns the memory of a storage, and the page in it at which the storage starts.
  func memory(_ storage: Storage, _ bindings: Bindings) throws(DeviceError) -> (memory: cl_mem, page: UInt32) {
    let slice: BufferSlice
    var offset = storage.offset
    switch storage.place {
    case .weight(let index): return (weights[index].memory, UInt32(offset / bufferAlignment))
    case .input(let index): slice = bindings.inputs[index]
    case .output(let index): slice = bindings.outputs[index]
    case .scratch(let index):
      guard let scratch = bindings.scratch else { throw failure("no scratch memory was given") }
      slice = scratch
      offset += lowered.scratchOffsets[index]
    }
    guard let buffer = slice.buffer as? OpenCLBuffer, buffer.device === device else {
      throw failure("it was bound to memory of another device; create buffers with \(device.info.id)")
    }
    return (buffer.memory, UInt32((slice.offset + offset) / bufferAlignment))
  }

  func failure(_ reason: String) -> DeviceError {
    DeviceError(.execution, device: device.info.id, place: place, reason: reason)
  }
}
