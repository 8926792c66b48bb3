package import KelvinDevices
package import KelvinGraph
import KelvinReference
import Synchronization

/// The reference device under another name, with something to do whenever work is submitted to it. It counts its memory.
package final class HookedDevice: Device {
  package let info: DeviceInfo
  package let health = DeviceHealth()
  private let reference = ReferenceDevice()
  fileprivate let onSubmit: @Sendable () throws(DeviceError) -> Void
  private let held = Held()

  /// Bytes of the existing buffers.
  package var heldByteCount: Int { held.byteCount.withLock { $0 } }

  /// Larger buffers are refused from now on.
  package func refuseBuffers(over byteCount: Int) { held.largest.withLock { $0 = byteCount } }

  package init(id: String, onSubmit: @escaping @Sendable () throws(DeviceError) -> Void) {
    self.onSubmit = onSubmit
    info = DeviceInfo(
      id: id, name: "hooked \(id)", kind: .discreteGPU, driver: "test", version: "1", memory: 1 << 30, resource: id)
  }

  package func support(for node: Node, in graph: Graph, precision: Precision) -> Support {
    reference.support(for: node, in: graph, precision: precision)
  }

  package func compile(_ segment: Segment) throws(DeviceError) -> any Executable {
    HookedExecutable(device: self, inner: try reference.compile(segment))
  }

  package func makeBuffer(byteCount: Int) throws(DeviceError) -> any Buffer {
    let largest = held.largest.withLock { $0 }
    guard byteCount <= largest else {
      throw DeviceError(
        .outOfMemory, device: info.id, place: "buffer", reason: "\(byteCount) bytes, at most \(largest)")
    }
    return try CountedBuffer(byteCount: byteCount, held)
  }
}

private final class Held: Sendable {
  let byteCount = Mutex(0)
  let largest = Mutex(Int.max)
}

private final class CountedBuffer: Buffer {
  private let memory: HostBuffer
  private let held: Held

  init(byteCount: Int, _ held: Held) throws(DeviceError) {
    memory = try HostBuffer(byteCount: byteCount)
    self.held = held
    held.byteCount.withLock { $0 += byteCount }
  }

  deinit { held.byteCount.withLock { $0 -= memory.byteCount } }

  var byteCount: Int { memory.byteCount }
  var hostPointer: UnsafeMutableRawPointer? { memory.hostPointer }
  func write(_ source: UnsafeRawBufferPointer, at offset: Int) { memory.write(source, at: offset) }
  func read(into target: UnsafeMutableRawBufferPointer, at offset: Int) { memory.read(into: target, at: offset) }
}

private final class HookedExecutable: Executable {
  let device: HookedDevice
  let inner: any Executable
  var scratchByteCount: Int { 0 }

  init(device: HookedDevice, inner: any Executable) {
    self.device = device
    self.inner = inner
  }

  func bind(_ bindings: Bindings) throws(DeviceError) -> any Invocation {
    HookedInvocation(device: device, inner: try inner.bind(bindings))
  }
}

private final class HookedInvocation: Invocation {
  let device: HookedDevice
  let inner: any Invocation
  var completion: any Event { inner.completion }
  var nodeTimings: [NodeTiming] { inner.nodeTimings }
  var stagedInputs: [Int: BufferSlice] { inner.stagedInputs }
  var stagedOutputs: [Int: BufferSlice] { inner.stagedOutputs }

  init(device: HookedDevice, inner: any Invocation) {
    self.device = device
    self.inner = inner
  }

  func submit() throws(DeviceError) {
    try device.onSubmit()
    try inner.submit()
  }
}
