import KelvinBasics
import KelvinDevices
import KelvinGraph
import Synchronization

final class ReferenceExecutable: Executable {
  let graph: Graph
  let parents: [String]
  var scratchByteCount: Int { 0 }
  private let weights = Mutex<[ValueID: [Double]]>([:])

  init(_ expanded: ExpandedGraph) {
    graph = expanded.graph
    parents = expanded.parents
  }

  func bind(_ bindings: Bindings) throws(DeviceError) -> any Invocation {
    ReferenceInvocation(self, bindings)
  }

  func weight(_ id: ValueID) -> [Double]? {
    weights.withLock { cache in
      if let values = cache[id] { return values }
      guard let weight = graph[id].weight else { return nil }
      let values = weight.dense().doubles
      cache[id] = values
      return values
    }
  }
}

final class ReferenceInvocation: Invocation {
  let completion: any Event = CompletedEvent()
  private(set) var nodeTimings: [NodeTiming] = []
  private let executable: ReferenceExecutable
  private let bindings: Bindings

  init(_ executable: ReferenceExecutable, _ bindings: Bindings) {
    self.executable = executable
    self.bindings = bindings
  }

  func submit(after events: [any Event]) throws(DeviceError) {
    for event in events { try event.wait() }
    let graph = executable.graph
    var values: [ValueID: [Double]] = [:]
    for (id, slice) in zip(graph.inputs, bindings.inputs) {
      let type = graph[id].type
      let bytes = try Bytes(count: type.byteCount) { (raw) throws(DeviceError) in try slice.read(into: raw) }
      values[id] = Tensor(type, bytes).doubles
    }
    var timings: [NodeTiming] = []
    let clock = ContinuousClock()
    let began = clock.now
    for (index, node) in graph.nodes.enumerated() {
      try bindings.stop?.check(device: "reference")
      let started = clock.now
      let operands = node.inputs.map { values[$0] ?? executable.weight($0) ?? [] }
      let types = graph.types(node.outputs)
      let context = ReferenceInputs(types: graph.types(node.inputs), outputs: types, values: operands)
      guard let results = try referenceKernels.kernel(for: node.op, context) else {
        throw DeviceError(.unsupported, device: "reference", place: node.name, reason: "no \(node.op.name) kernel")
      }
      for (output, (type, result)) in zip(node.outputs, zip(types, results)) {
        values[output] = type.scalar == .float64 ? result : Tensor(type, rounding: result).doubles
      }
      if bindings.measuresNodes {
        let name = executable.parents[index]
        let seconds = (clock.now - started).inSeconds
        if timings.last?.node == name {
          timings[timings.count - 1].seconds += seconds
        } else {
          timings.append(
            NodeTiming(node: name, start: (started - began).inSeconds, seconds: seconds, clock: .host))
        }
      }
    }
    nodeTimings = timings
    for (id, slice) in zip(graph.outputs, bindings.outputs) {
      let type = graph[id].type
      let tensor = Tensor(type, rounding: values[id] ?? executable.weight(id) ?? [])
      try tensor.bytes.withUnsafeBytes { (raw) throws(DeviceError) in try slice.write(raw) }
    }
  }
}
