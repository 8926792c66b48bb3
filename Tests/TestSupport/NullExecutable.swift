package import KelvinDevices
internal import Synchronization

/// A segment that takes the scripted time of its nodes, and needs no memory.
package final class NullExecutable: Executable {
  package let scratchByteCount = 0
  let device: NullDevice
  let costs: [(name: String, seconds: Double)]

  init(_ device: NullDevice, costs: [(name: String, seconds: Double)]) {
    self.device = device
    self.costs = costs
  }

  package func bind(_ bindings: Bindings) throws(DeviceError) -> any Invocation {
    NullInvocation(self, bindings)
  }
}

/// Writes zeros to its outputs and records that it ran.
package final class NullInvocation: Invocation {
  package var completion: any Event { event }
  private let executable: NullExecutable
  private let bindings: Bindings
  private let event = NullEvent()
  private let nodes: [String]

  init(_ executable: NullExecutable, _ bindings: Bindings) {
    self.executable = executable
    self.bindings = bindings
    nodes = executable.costs.map(\.name)
  }

  package func submit() throws(DeviceError) {
    for output in bindings.outputs {
      guard let pointer = output.hostPointer else {
        throw DeviceError(
          .execution, device: executable.device.info.id, place: "outputs",
          reason: "they were bound to memory that the host cannot address")
      }
      pointer.initializeMemory(as: UInt8.self, repeating: 0, count: output.byteCount)
    }
    executable.device.record(nodes)
    event.complete()
  }

  package var nodeTimings: [NodeTiming] {
    guard bindings.measuresNodes, event.isComplete else { return [] }
    var start = 0.0
    return executable.costs.map { cost in
      defer { start += cost.seconds }
      return NodeTiming(node: cost.name, start: start, seconds: cost.seconds, clock: .device)
    }
  }
}

/// The completion of a null submission, which has always been reached.
package final class NullEvent: Event {
  private let state = Atomic(false)

  var isComplete: Bool { state.load(ordering: .acquiring) }
  func complete() { state.store(true, ordering: .releasing) }
  package func wait() {}
}
