package import KelvinDevices
package import KelvinGraph
import KelvinReference
import Synchronization

/// A device that computes as the reference does, but as late as its contract allows: submitted work runs, in order,
/// when a caller waits for it. A runtime that reads results or reuses memory too early gets wrong numbers from it.
/// Its submissions copy staged values if the host cannot address its memory.
package final class DeferredDevice: Device {
  package let info: DeviceInfo
  package let health = DeviceHealth()
  fileprivate let isUnified: Bool
  private let reference = ReferenceDevice()
  fileprivate let queue = Mutex<[Work]>([])

  fileprivate struct Work: @unchecked Sendable {
    let invocation: DeferredInvocation
    let event: DeferredEvent
  }

  /// - Parameter isUnified: whether the host can address the device's memory.
  package init(id: String, isUnified: Bool) {
    self.isUnified = isUnified
    info = DeviceInfo(
      id: id, name: "deferred \(id)", kind: .discreteGPU, driver: "test", version: "1", memory: 1 << 30, resource: id)
  }

  package func support(for node: Node, in graph: Graph, precision: Precision) -> Support {
    reference.support(for: node, in: graph, precision: precision)
  }

  package func compile(_ segment: Segment) throws(DeviceError) -> any Executable {
    DeferredExecutable(device: self, inner: try reference.compile(segment))
  }

  package func makeBuffer(byteCount: Int) throws(DeviceError) -> any Buffer {
    try isUnified ? HostBuffer(byteCount: byteCount) : PrivateBuffer(byteCount)
  }

  /// Runs everything submitted, up to and including the work that signals `event`.
  fileprivate func drain(to event: DeferredEvent) throws(DeviceError) {
    while !event.isSignalled {
      guard let work = queue.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
      try work.invocation.perform()
      work.event.signal()
    }
  }
}

/// Memory that the host cannot address.
private final class PrivateBuffer: Buffer {
  private let memory: HostBuffer
  init(_ byteCount: Int) throws(DeviceError) { memory = try HostBuffer(byteCount: byteCount) }
  var byteCount: Int { memory.byteCount }
  var hostPointer: UnsafeMutableRawPointer? { nil }
  func write(_ source: UnsafeRawBufferPointer, at offset: Int) { memory.write(source, at: offset) }
  func read(into target: UnsafeMutableRawBufferPointer, at offset: Int) { memory.read(into: target, at: offset) }
}

private final class DeferredExecutable: Executable {
  let device: DeferredDevice
  let inner: any Executable
  /// The size is arbitrary, so that sharing of scratch memory is tested too.
  var scratchByteCount: Int { 256 }

  init(device: DeferredDevice, inner: any Executable) {
    self.device = device
    self.inner = inner
  }

  func bind(_ bindings: Bindings) throws(DeviceError) -> any Invocation {
    try DeferredInvocation(device: device, inner: try inner.bind(bindings), bindings)
  }
}

private final class DeferredInvocation: Invocation {
  let device: DeferredDevice
  let inner: any Invocation
  let event: DeferredEvent
  private(set) var stagedInputs: [Int: BufferSlice] = [:]
  private(set) var stagedOutputs: [Int: BufferSlice] = [:]
  private let bindings: Bindings
  var completion: any Event { event }
  var nodeTimings: [NodeTiming] { inner.nodeTimings }

  init(device: DeferredDevice, inner: any Invocation, _ bindings: Bindings) throws(DeviceError) {
    self.device = device
    self.inner = inner
    self.bindings = bindings
    event = DeferredEvent(device)
    guard !device.isUnified else { return }
    for index in bindings.hostInputs { stagedInputs[index] = try Self.staging(bindings.inputs[index]) }
    for index in bindings.hostOutputs { stagedOutputs[index] = try Self.staging(bindings.outputs[index]) }
  }

  private static func staging(_ slice: BufferSlice) throws(DeviceError) -> BufferSlice {
    BufferSlice(try HostBuffer(byteCount: slice.byteCount), offset: 0, byteCount: slice.byteCount)
  }

  func submit() throws(DeviceError) {
    event.reset()
    let work = DeferredDevice.Work(invocation: self, event: event)
    device.queue.withLock { $0.append(work) }
  }

  /// Does the submitted work.
  func perform() throws(DeviceError) {
    for (index, staging) in stagedInputs { try copy(staging, to: bindings.inputs[index]) }
    try inner.submit()
    for (index, staging) in stagedOutputs { try copy(bindings.outputs[index], to: staging) }
  }

  private func copy(_ source: BufferSlice, to target: BufferSlice) throws(DeviceError) {
    let bytes = try Bytes(count: source.byteCount) { (raw) throws(DeviceError) in try source.read(into: raw) }
    try bytes.withUnsafeBytes { (raw) throws(DeviceError) in try target.write(raw) }
  }
}

private final class DeferredEvent: Event {
  private let device: DeferredDevice
  private let signalled = Mutex(true)
  init(_ device: DeferredDevice) { self.device = device }
  var isSignalled: Bool { signalled.withLock { $0 } }
  func signal() { signalled.withLock { $0 = true } }
  func reset() { signalled.withLock { $0 = false } }
  func wait() throws(DeviceError) { try device.drain(to: self) }
}
