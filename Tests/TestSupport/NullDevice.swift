package import KelvinDevices
package import KelvinGraph
internal import Synchronization

/// A device that runs nothing: its outputs are zeros, and its creator sets its costs. Schedulers, policies and the
/// runtime are tested on it.
///
/// It is also the template of a new device. Copy the folder, rename the types, add a row to `Package.swift` and a line
/// to `KelvinEngine/DeviceCatalog.swift`, then implement, in this order:
///
/// 1. `Device.info` and a `discover()` that lists every device of the kind, or one row with the reason why there is
///    none and a remedy. Drivers are opened at run time (`CKelvinSupport`), never linked.
/// 2. `makeBuffer`. Provide `Buffer.hostPointer` if host and device share memory.
/// 3. One file for each operator in `Kernels/`, each adding an entry to a `KernelTable`. The device's `KernelFamily`
///    asks that table for `offers`; `support` follows from them. The conformance cases define the results.
/// 4. `compile`: take a kernel for each node (`KernelFamily.selection`), pack weights through `Segment.weights`, plan
///    private memory by liveness (`ArenaPlan`).
/// 5. `bind` records everything; `submit` only starts it, and neither allocates nor records.
package final class NullDevice: Device {
  package let info: DeviceInfo
  package let health = DeviceHealth()
  private let supports: @Sendable (Node, Graph) -> Support
  private let seconds: @Sendable (Node, Graph) -> Double
  private let log = Mutex<[NullSubmission]>([])

  /// - Parameters:
  ///   - supports: which nodes the device claims to run.
  ///   - seconds: how long it claims a node takes.
  package init(
    id: String = "null:0", info: DeviceInfo? = nil,
    supports: @escaping @Sendable (Node, Graph) -> Support = { _, _ in .supported },
    seconds: @escaping @Sendable (Node, Graph) -> Double = { _, _ in 0 }
  ) {
    self.info =
      info
      ?? DeviceInfo(
        id: id, name: "Null", kind: .null, driver: "none", version: "1", memory: 1 << 40, resource: id)
    self.supports = supports
    self.seconds = seconds
  }

  /// Everything that was submitted, in order.
  package var submissions: [NullSubmission] { log.withLock { $0 } }

  package func support(for node: Node, in graph: Graph, precision: Precision) -> Support { supports(node, graph) }

  package func compile(_ segment: Segment) throws(DeviceError) -> any Executable {
    for node in segment.graph.nodes {
      if case .unsupported(let reason) = supports(node, segment.graph) {
        throw DeviceError(.unsupported, device: info.id, place: "\(node.op.name) '\(node.name)'", reason: reason)
      }
    }
    let costs = segment.graph.nodes.map { (name: $0.name, seconds: seconds($0, segment.graph)) }
    return NullExecutable(self, costs: costs)
  }

  package func makeBuffer(byteCount: Int) throws(DeviceError) -> any Buffer {
    guard byteCount >= 0, byteCount <= info.memory else {
      throw DeviceError(
        .outOfMemory, device: info.id, place: "buffer of \(byteCount) bytes",
        reason: "the device has \(info.memory) bytes")
    }
    return try HostBuffer(byteCount: byteCount, for: info.id)
  }

  /// Adds a submission to the log.
  func record(_ nodes: [String]) {
    log.withLock { $0.append(NullSubmission(number: $0.count, nodes: nodes)) }
  }
}

/// One submission to a null device.
package struct NullSubmission: Hashable, Sendable {
  /// Its position among the device's submissions.
  package let number: Int
  /// The nodes of the segment.
  package let nodes: [String]

  package init(number: Int, nodes: [String]) {
    self.number = number
    self.nodes = nodes
  }
}
