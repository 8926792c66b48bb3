package import KelvinDevices
package import KelvinGraph
import KelvinReference

/// The reference device under another name, with something to do whenever work is submitted to it.
package final class HookedDevice: Device {
  package let info: DeviceInfo
  private let reference = ReferenceDevice()
  fileprivate let onSubmit: @Sendable () throws(DeviceError) -> Void

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

  package func makeBuffer(byteCount: Int) throws(DeviceError) -> any Buffer { try HostBuffer(byteCount: byteCount) }
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

  init(device: HookedDevice, inner: any Invocation) {
    self.device = device
    self.inner = inner
  }

  func submit(after events: [any Event]) throws(DeviceError) {
    try device.onSubmit()
    try inner.submit(after: events)
  }
}
