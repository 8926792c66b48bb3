internal import CKelvinDrivers
package import KelvinDevices
internal import KelvinGraph

/// A segment as a list of kernel runs on one block of scratch memory.
package final class OpenCLExecutable: Executable, @unchecked Sendable {
  package let scratchByteCount: Int
  let device: OpenCLDevice
  let dispatches: [Dispatch]
  let storages: [Storage]
  /// For each storage in scratch memory, where it starts.
  let offsets: [Int]
  /// For each dispatch, the node of the segment's graph that it counts for.
  let parents: [String]
  private let inputCount: Int
  private let outputCount: Int
  private let place: String

  init(
    _ device: OpenCLDevice, _ lowering: Lowering, parents: [String], blobs: any BlobCache
  ) throws(DeviceError) {
    var steps: [Int: ClosedRange<Int>] = [:]
    for (step, dispatch) in lowering.dispatches.enumerated() {
      for storage in dispatch.buffers { steps[storage] = (steps[storage]?.lowerBound ?? step)...step }
    }
    var offsets = [Int](repeating: 0, count: lowering.storages.count)
    var indices: [Int] = []
    var lifetimes: [ArenaPlan.Lifetime] = []
    for (index, storage) in lowering.storages.enumerated() {
      guard case .scratch(let byteCount) = storage, let steps = steps[index] else { continue }
      indices.append(index)
      lifetimes.append(.init(byteCount: byteCount, steps: steps))
    }
    let plan = ArenaPlan(lifetimes)
    for (index, offset) in zip(indices, plan.offsets) { offsets[index] = offset }
    self.device = device
    self.offsets = offsets
    dispatches = lowering.dispatches
    storages = lowering.storages
    scratchByteCount = plan.byteCount
    self.parents = lowering.dispatches.map { parents.indices.contains($0.node) ? parents[$0.node] : "" }
    inputCount = lowering.graph.inputs.count
    outputCount = lowering.graph.outputs.count
    place = lowering.graph.nodes.first.map { "segment from '\($0.name)'" } ?? "empty segment"
    try device.programs.prepare(dispatches, on: device, blobs: blobs)
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
    return try OpenCLInvocation(self, bindings)
  }

  /// The memory and the page of 256 bytes at which a storage starts.
  func memory(_ storage: Int, _ bindings: Bindings) throws(DeviceError) -> (memory: cl_mem, page: UInt32) {
    let slice: BufferSlice
    var offset = 0
    switch storages[storage] {
    case .weights(let buffer): return (buffer.memory, 0)
    case .input(let index): slice = bindings.inputs[index]
    case .output(let index): slice = bindings.outputs[index]
    case .scratch:
      guard let scratch = bindings.scratch else { throw failure("no scratch memory was given") }
      slice = scratch
      offset = offsets[storage]
    }
    guard let buffer = slice.buffer as? OpenCLBuffer, buffer.device === device else {
      throw failure("it was bound to memory of another device; make buffers with \(device.info.id)")
    }
    return (buffer.memory, UInt32((slice.offset + offset) / bufferAlignment))
  }

  func failure(_ reason: String) -> DeviceError {
    DeviceError(.execution, device: device.info.id, place: place, reason: reason)
  }
}
