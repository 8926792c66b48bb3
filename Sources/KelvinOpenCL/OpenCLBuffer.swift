internal import CKelvinSupport
internal import Glibc
package import KelvinDevices
internal import KelvinGraph

/// Memory on an OpenCL device. If device and host share memory, a buffer is host memory that both use, except for
/// scratch that they would use in turns. `MemoryModel.mapped` buffers in host memory are mapped from their creation on,
/// except while a submission uses them.
package final class OpenCLBuffer: Buffer, @unchecked Sendable {
  package let byteCount: Int
  let memory: cl_mem
  /// The host memory, if host and device share it.
  private let host: ZeroedMemory?
  let device: OpenCLDevice

  /// - Throws: `.outOfMemory`; the error that disabled the device.
  ///
  /// - Parameter isShared: whether the buffer is also host memory.
  static func make(_ device: OpenCLDevice, byteCount: Int, isShared: Bool) throws(DeviceError) -> OpenCLBuffer {
    try device.health.check()
    return try device.health.guarded(device.info.id, "buffer of \(byteCount) bytes") { () throws(DeviceError) in
      try OpenCLBuffer(device, byteCount: byteCount, isShared: isShared)
    }
  }

  private init(_ device: OpenCLDevice, byteCount: Int, isShared: Bool) throws(DeviceError) {
    let place = "buffer of \(byteCount) bytes"
    guard byteCount >= 0, byteCount <= device.largestBuffer else {
      throw DeviceError(
        .outOfMemory, device: device.info.id, place: place,
        reason: "the device's largest buffer has \(device.largestBuffer) bytes", byteCount: byteCount)
    }
    let size = (max(byteCount, 1) + 4095) / 4096 * 4096
    var host: ZeroedMemory?
    var flags = cl_mem_flags(CL_MEM_READ_WRITE)
    if isShared {
      host = ZeroedMemory(count: size)
      guard let host else {
        throw DeviceError(
          .outOfMemory, device: device.info.id, place: place, reason: "no host memory is left", byteCount: size)
      }
      // The memory is touched here once, because a driver's threads that touch it during a first inference take longer.
      try DriverThread.pausing { () throws(DeviceError) in _ = memset(host.baseAddress, 0, size) }
      flags |= cl_mem_flags(CL_MEM_USE_HOST_PTR)
    }
    var status: cl_int = CL_SUCCESS
    let memory = device.library.functions.clCreateBuffer(device.context, flags, size, host?.baseAddress, &status)
    try device.check(status, "clCreateBuffer", place, byteCount: size)
    guard let memory else { throw device.nothing(from: "clCreateBuffer", place) }
    self.byteCount = byteCount
    self.device = device
    self.memory = memory
    self.host = host
    device.health.took(byteCount: byteCount)
    if changesHands { try mapAndWait() }
  }

  /// Whether host and device use the memory in turns.
  var changesHands: Bool { host != nil && device.memoryModel == .mapped }

  /// Maps the memory for the host after the work enqueued so far.
  func map(_ event: UnsafeMutablePointer<cl_event?>?) throws(DeviceError) {
    var status: cl_int = CL_SUCCESS
    let flags = cl_map_flags(CL_MAP_READ) | cl_map_flags(CL_MAP_WRITE)
    _ = device.library.functions.clEnqueueMapBuffer(
      device.queue, memory, cl_bool(CL_FALSE), flags, 0, max(byteCount, 1), 0, nil, event, &status)
    try device.check(status, "clEnqueueMapBuffer", "buffer")
  }

  /// Maps the memory for the host and waits.
  func mapAndWait() throws(DeviceError) {
    try device.completing("clEnqueueMapBuffer") { (event) throws(DeviceError) in try map(event) }
  }

  /// Unmaps the memory so that work enqueued from now on can use it.
  func unmap() throws(DeviceError) {
    guard let hostPointer else { return }
    try device.check(
      device.library.functions.clEnqueueUnmapMemObject(device.queue, memory, hostPointer, 0, nil, nil),
      "clEnqueueUnmapMemObject", "buffer")
  }

  deinit {
    device.health.freed(byteCount: byteCount)
    device.health.freeing(device.info.id) { [library = device.library, memory] in
      _ = library.functions.clReleaseMemObject(memory)
    }
    if !device.health.mayFree, let host { LeakedResources.keep(host) }
  }

  package var hostPointer: UnsafeMutableRawPointer? { host?.baseAddress }

  package func write(_ source: UnsafeRawBufferPointer, at offset: Int) throws(DeviceError) {
    precondition(offset >= 0 && source.count <= byteCount && offset <= byteCount - source.count)
    guard let base = source.baseAddress, source.count > 0 else { return }
    if let hostPointer {
      (hostPointer + offset).copyMemory(from: base, byteCount: source.count)
      return
    }
    try device.health.guarded(device.info.id, "copy to the device") { [self] () throws(DeviceError) in
      try device.staging.write(base, count: source.count, to: memory, at: offset, device)
    }
  }

  package func read(into target: UnsafeMutableRawBufferPointer, at offset: Int) throws(DeviceError) {
    precondition(offset >= 0 && target.count <= byteCount && offset <= byteCount - target.count)
    guard let base = target.baseAddress, target.count > 0 else { return }
    if let hostPointer {
      base.copyMemory(from: hostPointer + offset, byteCount: target.count)
      return
    }
    try device.health.guarded(device.info.id, "copy from the device") { [self] () throws(DeviceError) in
      try device.staging.read(memory, at: offset, into: base, count: target.count, device)
    }
  }
}
