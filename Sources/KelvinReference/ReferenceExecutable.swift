import KelvinBasics
import KelvinDevices
import KelvinGraph
import Synchronization

final class ReferenceExecutable: Executable {
  let graph: Graph
  let parents: [String]
  var scratchByteCount: Int { 0 }
  private let weights = Mutex<[ValueID: ReferenceOperand]>([:])
  private let runs = Atomic<Int>(0)

  init(_ expanded: ExpandedGraph) {
    graph = expanded.graph
    parents = expanded.parents
  }

  func bind(_ bindings: Bindings) throws(DeviceError) -> any Invocation {
    ReferenceInvocation(self, bindings)
  }

  /// Counts a run.
  ///
  /// - Returns: the number of earlier runs.
  func beginRun() -> Int { runs.wrappingAdd(1, ordering: .relaxed).oldValue }

  func weight(_ id: ValueID) -> ReferenceOperand? {
    weights.withLock { cache in
      if let operand = cache[id] { return operand }
      guard let weight = graph[id].weight else { return nil }
      let operand = ReferenceOperand(weight.dense())
      cache[id] = operand
      return operand
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

  func submit() throws(DeviceError) {
    let graph = executable.graph
    var values: [ValueID: ReferenceOperand] = [:]
    for (id, slice) in zip(graph.inputs, bindings.inputs) {
      let type = graph[id].type
      let bytes = try Bytes(count: type.byteCount) { (raw) throws(DeviceError) in try slice.read(into: raw) }
      values[id] = ReferenceOperand(Tensor(type, bytes))
    }
    let run = executable.beginRun()
    var timings: [NodeTiming] = []
    let clock = ContinuousClock()
    let began = clock.now
    for (index, node) in graph.nodes.enumerated() {
      try bindings.stop?.check(device: "reference")
      let started = clock.now
      let operands = node.inputs.map { id in
        guard let operand = values[id] ?? executable.weight(id) else {
          preconditionFailure("\(node.name) reads \(graph[id].name) before it is computed")
        }
        return operand
      }
      let results = try referenceResults(
        of: node.op, operands, graph.types(node.outputs), node: executable.parents[index], run: run)
      for (output, result) in zip(node.outputs, results) { values[output] = ReferenceOperand(result) }
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
      guard let tensor = (values[id] ?? executable.weight(id))?.tensor else {
        preconditionFailure("nothing computes the output \(graph[id].name)")
      }
      try tensor.bytes.withUnsafeBytes { (raw) throws(DeviceError) in try slice.write(raw) }
    }
  }
}
