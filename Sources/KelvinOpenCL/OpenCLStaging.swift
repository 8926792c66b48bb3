internal import CKelvinSupport
internal import KelvinDevices
internal import KelvinGraph

/// Host memory for copies to and from a device with its own memory, a chunk at a time. The driver then never holds an
/// address of a caller's memory, even if a copy never completes.
final class OpenCLStaging: Sendable {
  private static let pieceByteCount = 4 << 20
  private let memory = DeviceLock<ZeroedMemory?>(nil)

  func write(
    _ source: UnsafeRawPointer, count: Int, to target: cl_mem, at offset: Int, _ device: OpenCLDevice
  ) throws(DeviceError) {
    try withPieces(count, device) { (memory, start, count) throws(DeviceError) in
      try DriverThread.pausing { () throws(DeviceError) in
        memory.copyMemory(from: source + start, byteCount: count)
      }
      try device.completing("clEnqueueWriteBuffer") { (event) throws(DeviceError) in
        try device.check(
          device.library.functions.clEnqueueWriteBuffer(
            device.queue, target, cl_bool(CL_FALSE), offset + start, count, memory, 0, nil, event),
          "clEnqueueWriteBuffer", "buffer")
      }
    }
  }

  func read(
    _ source: cl_mem, at offset: Int, into target: UnsafeMutableRawPointer, count: Int, _ device: OpenCLDevice
  ) throws(DeviceError) {
    try withPieces(count, device) { (memory, start, count) throws(DeviceError) in
      try device.completing("clEnqueueReadBuffer") { (event) throws(DeviceError) in
        try device.check(
          device.library.functions.clEnqueueReadBuffer(
            device.queue, source, cl_bool(CL_FALSE), offset + start, count, memory, 0, nil, event),
          "clEnqueueReadBuffer", "buffer")
      }
      try DriverThread.pausing { () throws(DeviceError) in
        (target + start).copyMemory(from: memory, byteCount: count)
      }
    }
  }

  private func withPieces(
    _ count: Int, _ device: OpenCLDevice,
    _ body: (_ memory: UnsafeMutableRawPointer, _ start: Int, _ count: Int) throws(DeviceError) -> Void
  ) throws(DeviceError) {
    try memory.withLock(device.health) { (memory: inout ZeroedMemory?) throws(DeviceError) in
      guard let known = memory ?? ZeroedMemory(count: Self.pieceByteCount) else {
        throw DeviceError(
          .outOfMemory, device: device.info.id, place: "staging memory", reason: "no host memory is left",
          byteCount: Self.pieceByteCount)
      }
      memory = known
      for start in stride(from: 0, to: count, by: Self.pieceByteCount) {
        try body(known.baseAddress, start, min(Self.pieceByteCount, count - start))
      }
    }
  }
}
