import CKelvinSupport
import KelvinDevices
import KelvinGraph
import Synchronization

/// Packed weights as the device reads them. Large weights are imported in place if the device reads the host's memory
/// (`MemoryImport`). Other weights are copied once for each store of packed weights, and freed with the last executable
/// that uses them.
final class VulkanWeights: Sendable {
  private struct Entry {
    weak var packed: (any PackedWeights)?
    weak var uploaded: VulkanWeightStore?
  }

  private let context: VulkanContext
  private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

  init(_ context: VulkanContext) { self.context = context }

  func store(for packed: any PackedWeights) -> VulkanWeightStore {
    entries.withLock { entries in
      entries = entries.filter { $0.value.packed != nil && $0.value.uploaded != nil }
      let key = ObjectIdentifier(packed)
      if let entry = entries[key], entry.packed === packed, let uploaded = entry.uploaded { return uploaded }
      let uploaded = VulkanWeightStore(context, packed)
      entries[key] = Entry(packed: packed, uploaded: uploaded)
      return uploaded
    }
  }
}

/// The part of a buffer that holds one packed weight.
struct VulkanWeight: Sendable {
  let buffer: VulkanBuffer
  let offset: Int
  let byteCount: Int
}

/// The weights of one model in buffers; small weights share buffers.
final class VulkanWeightStore: Sendable {
  /// The size of a buffer for small weights, in bytes. The rest of the last one is a small part of the device's memory.
  /// Larger weights have buffers of their own.
  private let chunkByteCount: Int

  private struct State: Sendable {
    var weights: [String: VulkanWeight] = [:]
    var chunk: VulkanBuffer?
    var used = 0
    /// The bytes of the current chunk that have not been transferred yet.
    var gathered: [UInt8] = []
    /// The buffers in which streamed weights take turns, and the size that they are to have.
    var ring: [VulkanBuffer] = []
    var placeByteCount = 0
  }

  private let context: VulkanContext
  /// The packed weights. The reference is weak, because the store is not needed once all its weights are in buffers.
  private let packed: WeakPackedWeights
  private let state = DeviceLock(State())

  init(_ context: VulkanContext, _ packed: any PackedWeights) {
    self.context = context
    self.packed = WeakPackedWeights(packed)
    chunkByteCount = min(4 << 20, max(bufferAlignment, context.properties.largestLocalHeap / 256))
  }

  /// Returns the weight packed under `key`; its first use packs the weight and puts it in a buffer. The contents are
  /// valid once `finish` has returned, because small weights are transferred together to memory that the host cannot
  /// address.
  func weight(
    _ key: String, byteCount: Int, fill: (UnsafeMutableRawBufferPointer) throws(DeviceError) -> Void
  ) throws(DeviceError) -> VulkanWeight {
    try state.withLock(context.health) { (state: inout State) throws(DeviceError) -> VulkanWeight in
      if let weight = state.weights[key] {
        try check(key, byteCount, has: weight.byteCount)
        return weight
      }
      let bytes = try self.packed(key, byteCount: byteCount, fill: fill)
      if let buffer = try VulkanBuffer.importing(bytes, context) {
        let weight = VulkanWeight(buffer: buffer, offset: 0, byteCount: byteCount)
        state.weights[key] = weight
        return weight
      }
      let size = (byteCount + bufferAlignment - 1) / bufferAlignment * bufferAlignment
      if size >= chunkByteCount {
        // The current chunk stays for the next small weights.
        let own = try Self.buffer(context, byteCount: size)
        try bytes.withUnsafeBytes { bytes throws(DeviceError) in try own.write(bytes, at: 0) }
        let weight = VulkanWeight(buffer: own, offset: 0, byteCount: byteCount)
        state.weights[key] = weight
        return weight
      }
      var chunk = state.chunk
      if chunk == nil || state.used + size > (chunk?.byteCount ?? 0) {
        try Self.upload(&state)
        chunk = try Self.buffer(context, byteCount: chunkByteCount)
        state.chunk = chunk
        state.used = 0
      }
      guard let chunk else { throw context.error(.outOfMemory, "weight '\(key)'", "no memory for it", byteCount: size) }
      let offset = state.used
      if chunk.allocation.pointer == nil {
        bytes.withUnsafeBytes { state.gathered += $0 }
        state.gathered += [UInt8](repeating: 0, count: size - byteCount)
      } else {
        try bytes.withUnsafeBytes { bytes throws(DeviceError) in try chunk.write(bytes, at: offset) }
      }
      state.used += size
      let weight = VulkanWeight(buffer: chunk, offset: offset, byteCount: byteCount)
      state.weights[key] = weight
      return weight
    }
  }

  /// Returns the weight packed under `key` in host memory; its first use packs the weight.
  func packed(
    _ key: String, byteCount: Int, fill: (UnsafeMutableRawBufferPointer) throws(DeviceError) -> Void
  ) throws(DeviceError) -> Bytes {
    guard let packed = packed.value else {
      throw context.error(
        .compilation, "weight '\(key)'", "its weight store was released; keep it while models are compiled")
    }
    let bytes = try DriverThread.pausing { () throws(DeviceError) in
      try packed.packed(key, byteCount: byteCount, fill: fill)
    }
    try check(key, byteCount, has: bytes.count)
    return bytes
  }

  /// Gives the places of the ring at least a size, from the next call of `ring` on. So a model has one ring although its
  /// executables are compiled one after the other.
  func makeRoom(forParcelsOf byteCount: Int) throws(DeviceError) {
    try state.withLock(context.health) { (state: inout State) throws(DeviceError) in
      state.placeByteCount = max(state.placeByteCount, byteCount)
    }
  }

  /// Returns the buffers in which streamed weights take turns. Submissions run in order, so all invocations share them.
  func ring() throws(DeviceError) -> [VulkanBuffer] {
    try state.withLock(context.health) { (state: inout State) throws(DeviceError) -> [VulkanBuffer] in
      if (state.ring.first?.byteCount ?? 0) < state.placeByteCount {
        state.ring = []
        var ring: [VulkanBuffer] = []
        for _ in 0..<streamPlaces { ring.append(try Self.buffer(context, byteCount: state.placeByteCount)) }
        state.ring = ring
      }
      return state.ring
    }
  }

  private static func buffer(_ context: VulkanContext, byteCount: Int) throws(DeviceError) -> VulkanBuffer {
    let buffer = try VulkanBuffer.make(context, byteCount: byteCount, isZeroed: false)
    try PoisonedMemory.prepare(buffer)
    return buffer
  }

  private func check(_ key: String, _ byteCount: Int, has count: Int) throws(DeviceError) {
    if count != byteCount { throw .otherForm(of: key, expected: byteCount, got: count, device: context.id) }
  }

  /// Transfers the gathered bytes to the device.
  func finish() throws(DeviceError) {
    try state.withLock(context.health) { (state: inout State) throws(DeviceError) in try Self.upload(&state) }
  }

  private static func upload(_ state: inout State) throws(DeviceError) {
    guard let chunk = state.chunk, !state.gathered.isEmpty else { return }
    let bytes = Bytes(state.gathered)
    state.gathered = []
    let start = state.used - bytes.count
    try bytes.withUnsafeBytes { bytes throws(DeviceError) in try chunk.write(bytes, at: start) }
  }
}

private final class WeakPackedWeights: @unchecked Sendable {
  private(set) weak var value: (any PackedWeights)?
  init(_ value: any PackedWeights) { self.value = value }
}
