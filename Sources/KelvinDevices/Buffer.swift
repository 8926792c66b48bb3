internal import KelvinGraph

/// Memory on a device.
package protocol Buffer: AnyObject, Sendable {
  var byteCount: Int { get }

  /// The host address of the memory, coherent with the device once its work has completed; nil if the host cannot
  /// address it.
  var hostPointer: UnsafeMutableRawPointer? { get }

  /// Copies host memory into the buffer. No submitted work may be using that part.
  func write(_ source: UnsafeRawBufferPointer, at offset: Int) throws(DeviceError)

  /// Copies part of the buffer to host memory. No submitted work may be writing that part.
  func read(into target: UnsafeMutableRawBufferPointer, at offset: Int) throws(DeviceError)
}

/// Part of a buffer.
package struct BufferSlice: Sendable {
  package let buffer: any Buffer
  package let offset: Int
  package let byteCount: Int

  /// - Precondition: the part lies inside the buffer and starts at a multiple of `bufferAlignment`.
  package init(_ buffer: any Buffer, offset: Int, byteCount: Int) {
    precondition(offset >= 0 && byteCount >= 0 && offset + byteCount <= buffer.byteCount)
    precondition(offset % bufferAlignment == 0)
    self.buffer = buffer
    self.offset = offset
    self.byteCount = byteCount
  }

  /// The host address of the slice, or nil.
  package var hostPointer: UnsafeMutableRawPointer? { buffer.hostPointer.map { $0 + offset } }

  package func write(_ source: UnsafeRawBufferPointer) throws(DeviceError) {
    precondition(source.count <= byteCount)
    try buffer.write(source, at: offset)
  }

  package func read(into target: UnsafeMutableRawBufferPointer) throws(DeviceError) {
    precondition(target.count <= byteCount)
    try buffer.read(into: target, at: offset)
  }
}

/// A zeroed buffer in ordinary host memory, page-aligned if it is at least a page.
package final class HostBuffer: Buffer {
  private let memory: ZeroedMemory

  /// - Parameter device: the id of the device that it is for.
  /// - Throws: `.outOfMemory`.
  package init(byteCount: Int, for device: String = "host") throws(DeviceError) {
    guard let memory = ZeroedMemory(count: byteCount) else {
      throw DeviceError(
        .outOfMemory, device: device, place: "buffer of \(byteCount) bytes",
        reason: "the system has no more memory; use smaller inputs")
    }
    self.memory = memory
  }

  package var byteCount: Int { memory.count }
  private var baseAddress: UnsafeMutableRawPointer { memory.baseAddress }
  package var hostPointer: UnsafeMutableRawPointer? { baseAddress }

  package func write(_ source: UnsafeRawBufferPointer, at offset: Int) {
    precondition(offset >= 0 && offset + source.count <= byteCount)
    if let base = source.baseAddress { (baseAddress + offset).copyMemory(from: base, byteCount: source.count) }
  }

  package func read(into target: UnsafeMutableRawBufferPointer, at offset: Int) {
    precondition(offset >= 0 && offset + target.count <= byteCount)
    target.baseAddress?.copyMemory(from: baseAddress + offset, byteCount: target.count)
  }
}

/// An event that has already happened: the completion of work on the calling thread.
package final class CompletedEvent: Event {
  package init() {}
  package func wait() {}
}
