import CKelvinSupport
import KelvinDevices
import KelvinGPU

/// The ranges of an executable's storages in the buffers of one invocation.
struct BoundStorages {
  struct Range {
    let buffer: VulkanBuffer
    let offset: Int
    let byteCount: Int

    func overlaps(_ other: Range) -> Bool {
      buffer === other.buffer && offset < other.offset + other.byteCount && other.offset < offset + byteCount
    }

    func isSame(as other: Range) -> Bool {
      buffer === other.buffer && offset == other.offset && byteCount == other.byteCount
    }
  }

  private let inputs: [Range]
  private let outputs: [Range]
  private let scratch: Range?
  private let ring: [VulkanBuffer]
  private let executable: VulkanExecutable

  /// - Parameter ring: the buffers of streamed weights.
  /// - Throws: `.execution` for a slice of another device, or too little scratch memory.
  init(_ executable: VulkanExecutable, _ bindings: Bindings, ring: [VulkanBuffer]) throws(DeviceError) {
    self.ring = ring
    let context = executable.device.context
    func range(_ slice: BufferSlice, _ place: String) throws(DeviceError) -> Range {
      guard let buffer = slice.buffer as? VulkanBuffer, buffer.context === context else {
        throw context.error(.execution, place, "its memory is not this device's; allocate it with makeBuffer")
      }
      return Range(buffer: buffer, offset: slice.offset, byteCount: slice.byteCount)
    }
    var ranges: ([Range], [Range]) = ([], [])
    for (index, slice) in bindings.inputs.enumerated() { ranges.0.append(try range(slice, "input \(index)")) }
    for (index, slice) in bindings.outputs.enumerated() { ranges.1.append(try range(slice, "output \(index)")) }
    (inputs, outputs) = ranges
    var memory: Range?
    if let slice = bindings.scratch { memory = try range(slice, "scratch memory") }
    guard (memory?.byteCount ?? 0) >= executable.scratchByteCount else {
      throw context.error(
        .execution, "scratch memory", "expected \(executable.scratchByteCount) bytes, got \(memory?.byteCount ?? 0)")
    }
    scratch = memory
    self.executable = executable
  }

  func resolve(_ storage: Storage) throws(DeviceError) -> Range {
    switch storage.place {
    case .input(let index): return try slice(inputs, index, storage, "input")
    case .output(let index): return try slice(outputs, index, storage, "output")
    case .weight(let index):
      if let place = executable.streams.places[index] {
        return Range(
          buffer: ring[place.parcel % ring.count], offset: place.offset + storage.offset,
          byteCount: storage.byteCount)
      }
      guard let weight = executable.weights[index] else { preconditionFailure("it is streamed") }
      return Range(buffer: weight.buffer, offset: weight.offset + storage.offset, byteCount: storage.byteCount)
    case .scratch(let index):
      guard let scratch else { preconditionFailure("a segment with scratch values has scratch memory") }
      return Range(
        buffer: scratch.buffer,
        offset: scratch.offset + executable.lowered.scratchOffsets[index] + storage.offset,
        byteCount: storage.byteCount)
    }
  }

  private func slice(_ ranges: [Range], _ index: Int, _ storage: Storage, _ kind: String) throws(DeviceError) -> Range {
    let got = index < ranges.count ? ranges[index].byteCount : 0
    guard got >= storage.offset + storage.byteCount else {
      throw executable.device.context.error(
        .execution, "\(kind) \(index)", "expected \(storage.offset + storage.byteCount) bytes, got \(got)")
    }
    return Range(
      buffer: ranges[index].buffer, offset: ranges[index].offset + storage.offset, byteCount: storage.byteCount)
  }
}
