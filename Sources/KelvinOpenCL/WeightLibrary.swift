internal import CKelvinSupport
internal import KelvinDevices
internal import KelvinGPU
internal import KelvinGraph
internal import Synchronization

/// Packed weights as the device reads them: the packed bytes themselves if the device shares the host's memory and its
/// driver accepts them, otherwise a copy. Some drivers reject pages of a file, or read-only pages.
final class WeightBuffer: @unchecked Sendable {
  let memory: cl_mem
  private let bytes: Bytes?
  let byteCount: Int
  private let library: OpenCLLibrary
  private let health: DeviceHealth
  private let device: String

  init(_ device: OpenCLDevice, _ bytes: Bytes, key: String) throws(DeviceError) {
    var status: cl_int = CL_SUCCESS
    // A copied buffer holds no reference, so the bytes must outlive the call that copies them.
    func make(_ sharing: Int32) -> cl_mem? {
      withExtendedLifetime(bytes) {
        let flags = cl_mem_flags(CL_MEM_READ_ONLY) | cl_mem_flags(sharing)
        let base = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
        return device.library.functions.clCreateBuffer(device.context, flags, bytes.count, base, &status)
      }
    }
    let shared = device.memoryModel == .separate ? nil : make(CL_MEM_USE_HOST_PTR)
    let memory = shared ?? make(CL_MEM_COPY_HOST_PTR)
    try device.check(status, "clCreateBuffer", "weights '\(key)'", byteCount: bytes.count)
    guard let memory else { throw device.nothing(from: "clCreateBuffer", "weights '\(key)'") }
    self.memory = memory
    self.bytes = shared == nil ? nil : bytes
    byteCount = bytes.count
    library = device.library
    health = device.health
    self.device = device.info.id
    health.took(byteCount: byteCount)
  }

  deinit {
    health.freed(byteCount: byteCount)
    health.freeing(device) { [library, memory] in _ = library.functions.clReleaseMemObject(memory) }
    if !health.mayFree, let bytes { LeakedResources.keep(bytes) }
  }
}

/// The weights on the device. Each is uploaded once for all executables of a model.
final class WeightLibrary: Sendable {
  fileprivate struct Key: Hashable {
    let store: ObjectIdentifier
    let key: String
  }
  private struct Entry {
    /// The store, to detect another store at the address of a released one.
    weak var store: (any PackedWeights)?
    weak var buffer: WeightBuffer?
  }
  private let entries = Mutex<[Key: Entry]>([:])

  /// A packed weight, and the buffer that contains it, if there is one.
  struct Packed {
    fileprivate let key: Key
    fileprivate let store: any PackedWeights
    fileprivate let form: Form

    fileprivate enum Form {
      case bytes(Bytes)
      case buffer(WeightBuffer)
    }
  }

  /// Packs a weight unless a buffer contains it. It does not call the driver.
  func packed(
    _ weight: WeightPacking, in store: any PackedWeights, on device: OpenCLDevice
  ) throws(DeviceError) -> Packed {
    let key = Key(store: ObjectIdentifier(store), key: weight.key)
    let known = entries.withLock { entries in
      entries[key].flatMap { $0.store === store ? $0.buffer : nil }
    }
    if let known {
      try check(weight, has: known.byteCount, on: device)
      return Packed(key: key, store: store, form: .buffer(known))
    }
    let bytes = try DriverThread.pausing { () throws(DeviceError) in
      try store.packed(weight.key, byteCount: weight.byteCount, fill: weight.fill)
    }
    try check(weight, has: bytes.count, on: device)
    return Packed(key: key, store: store, form: .bytes(bytes))
  }

  private func check(_ weight: WeightPacking, has count: Int, on device: OpenCLDevice) throws(DeviceError) {
    if count != weight.byteCount {
      throw .otherForm(of: weight.key, expected: weight.byteCount, got: count, device: device.info.id)
    }
  }

  func buffer(_ packed: Packed, on device: OpenCLDevice) throws(DeviceError) -> WeightBuffer {
    let bytes: Bytes
    switch packed.form {
    case .buffer(let known): return known
    case .bytes(let own): bytes = own
    }
    let buffer = try WeightBuffer(device, bytes, key: packed.key.key)
    return entries.withLock { entries in
      if let other = entries[packed.key], other.store === packed.store, let first = other.buffer { return first }
      entries = entries.filter { $0.value.buffer != nil }
      entries[packed.key] = Entry(store: packed.store, buffer: buffer)
      return buffer
    }
  }
}
