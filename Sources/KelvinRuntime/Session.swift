import KelvinBasics
package import KelvinDevices
package import KelvinGraph
package import KelvinMeasurements

/// One caller's inferences with a compiled model: its memory, and its recordings on every device.
///
/// One owner at a time; different sessions of one model may run at the same time. After creation, `run` allocates
/// nothing on the CPU path.
package final class Session {
  package let model: CompiledModel
  private let arenas: [String: any Buffer]
  private let invocations: [any Invocation]
  private let steps: [BoundStep]
  private let inputs: [BufferSlice]
  private let outputs: [BufferSlice]
  private let measures: Bool
  private var marks: [Mark]
  /// Ends a run in progress at its next check point.
  private let stop = StopSignal()
  private static let clock = ContinuousClock()

  /// Copies made by the latest run, shared memory included.
  package private(set) var transferCount = 0

  private enum BoundStep {
    case run(Int)
    /// Waits for the producer, then copies where the two places differ.
    case transfer(producer: (any Event)?, BoundCopy)
  }

  private enum BoundCopy {
    /// The two places are one.
    case shared
    case upload(from: UnsafeRawBufferPointer, to: BufferSlice)
    case download(from: BufferSlice, to: UnsafeMutableRawBufferPointer)
    /// Neither device's memory can be addressed by the host: by way of a buffer that can.
    case staged(from: BufferSlice, HostBuffer, to: BufferSlice)

    init(_ from: BufferSlice, _ to: BufferSlice) {
      if let source = from.hostPointer {
        self = .upload(from: UnsafeRawBufferPointer(start: source, count: from.byteCount), to: to)
      } else if let target = to.hostPointer {
        self = .download(from: from, to: UnsafeMutableRawBufferPointer(start: target, count: to.byteCount))
      } else {
        self = .staged(from: from, HostBuffer(byteCount: from.byteCount), to: to)
      }
    }

    func perform() throws(DeviceError) {
      switch self {
      case .shared: break
      case .upload(let source, let to): try to.write(source)
      case .download(let from, let target): try from.read(into: target)
      case .staged(let from, let staging, let to):
        let memory = UnsafeMutableRawBufferPointer(start: staging.hostPointer, count: staging.byteCount)
        try from.read(into: memory)
        try to.write(UnsafeRawBufferPointer(memory))
      }
    }
  }

  private struct Mark {
    var start: ContinuousClock.Instant
    var end: ContinuousClock.Instant
  }

  /// The outputs that runs write into memory that was lent to the session.
  package let lentOutputs: Set<Int>

  init(
    _ model: CompiledModel, measuresNodes: Bool, outputs lent: [Int: LentBuffer] = [:]
  ) throws(RuntimeError) {
    self.model = model
    var lentValues: [ValueID: LentBuffer] = [:]
    var lentOutputs: Set<Int> = []
    for (index, buffer) in lent.sorted(by: { $0.key < $1.key }) {
      let value = model.graph.outputs[index]
      let slot = model.layout.slot(value, on: model.host)
      guard slot.domain == BufferLayout.hostDomain, buffer.suits(model.graph[value].type), lentValues[value] == nil,
        !model.graph.inputs.contains(value)
      else { continue }
      lentValues[value] = buffer
      lentOutputs.insert(index)
    }
    self.lentOutputs = lentOutputs
    measures = measuresNodes
    do {
      var arenas: [String: any Buffer] = [:]
      for (domain, byteCount) in model.layout.arenas {
        let device = domain == BufferLayout.hostDomain ? model.devices[model.host] : model.devices[domain]
        arenas[domain] = try device?.makeBuffer(byteCount: max(byteCount, bufferAlignment))
      }
      func slice(_ value: ValueID, on device: String) -> BufferSlice {
        let slot = model.layout.slot(value, on: device)
        if slot.domain == BufferLayout.hostDomain, let lent = lentValues[value] {
          return BufferSlice(lent, offset: 0, byteCount: slot.byteCount)
        }
        guard let arena = arenas[slot.domain] else { preconditionFailure("no arena on \(slot.domain)") }
        return BufferSlice(arena, offset: slot.offset, byteCount: slot.byteCount)
      }
      // Submissions to one device run in order, so its segments share scratch memory.
      var scratchSizes: [String: Int] = [:]
      for (segment, executable) in zip(model.schedule.segments, model.executables) {
        scratchSizes[segment.device] = max(scratchSizes[segment.device] ?? 0, executable.scratchByteCount)
      }
      var scratch: [String: any Buffer] = [:]
      for (device, size) in scratchSizes where size > 0 {
        scratch[device] = try model.devices[device]?.makeBuffer(byteCount: size)
      }
      var invocations: [any Invocation] = []
      for (segment, executable) in zip(model.schedule.segments, model.executables) {
        let size = executable.scratchByteCount
        invocations.append(
          try executable.bind(
            Bindings(
              inputs: segment.inputs.map { slice($0, on: segment.device) },
              outputs: segment.outputs.map { slice($0, on: segment.device) },
              scratch: size > 0
                ? scratch[segment.device].map { BufferSlice($0, offset: 0, byteCount: size) } : nil,
              measuresNodes: measuresNodes, stop: stop)))
      }
      var producers: [ValueID: Int] = [:]
      for (index, segment) in model.schedule.segments.enumerated() {
        for output in segment.outputs { producers[output] = index }
      }
      steps = model.schedule.steps.map { step in
        switch step {
        case .run(let segment): return .run(segment)
        case .transfer(let transfer):
          let producer = producers[transfer.value].map { invocations[$0].completion }
          let from = model.layout.slot(transfer.value, on: transfer.from)
          let to = model.layout.slot(transfer.value, on: transfer.to)
          return .transfer(
            producer: producer,
            from == to
              ? .shared : BoundCopy(slice(transfer.value, on: transfer.from), slice(transfer.value, on: transfer.to)))
        }
      }
      inputs = model.graph.inputs.map { slice($0, on: model.host) }
      outputs = model.graph.outputs.map { slice($0, on: model.host) }
      self.arenas = arenas
      self.invocations = invocations
      marks = Array(repeating: Mark(start: Self.clock.now, end: Self.clock.now), count: model.schedule.steps.count)
    } catch { throw .device(error) }
  }

  /// Where an input's elements are to be written before `run`: dense, row-major, in the graph's type.
  package func withInput<Failure: Error>(
    _ index: Int, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    try body(Self.memory(inputs[index]))
  }

  /// An output's elements, valid until the next run.
  package func withOutput<Result, Failure: Error>(
    _ index: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(Self.memory(outputs[index])))
  }

  /// The host's slots lie in memory that the host can address: its own arena, or a unified device's.
  private static func memory(_ slice: BufferSlice) -> UnsafeMutableRawBufferPointer {
    guard let pointer = slice.hostPointer else { preconditionFailure("a value on the host has no host memory") }
    return UnsafeMutableRawBufferPointer(start: pointer, count: slice.byteCount)
  }

  /// One inference on the inputs written before. Returns when the outputs can be read. Inputs are written anew before
  /// every run: their memory is reused once they have been read.
  ///
  /// - Parameter cancellation: ends the run at its next check point: between nodes on the host, between submissions
  ///   elsewhere. The session can be used again.
  /// - Throws: `cancelled`, or `device` where a device failed. No device is at work on the session then.
  package func run(_ cancellation: Cancellation? = nil) throws(RuntimeError) {
    guard let cancellation else { return try runSteps() }
    defer { stop.clear() }
    let stop = stop
    try cancellation.observing({ stop.set() }) { () throws(RuntimeError) in try runSteps() }
  }

  private func runSteps() throws(RuntimeError) {
    do {
      transferCount = 0
      for index in steps.indices {
        try stop.check(device: model.host)
        if measures { marks[index].start = Self.clock.now }
        switch steps[index] {
        case .run(let segment): try invocations[segment].submit(after: [])
        case .transfer(let producer, let copy):
          try producer?.wait()
          transferCount += 1
          try copy.perform()
        }
        if measures { marks[index].end = Self.clock.now }
      }
      for invocation in invocations { try invocation.completion.wait() }
    } catch {
      // What other devices were given may still be running, on memory that the caller is free to drop.
      for invocation in invocations { try? invocation.completion.wait() }
      throw error.code == .cancelled ? .cancelled : .device(error)
    }
  }

  /// One inference on tensors.
  ///
  /// - Parameters:
  ///   - tensors: one for each input of the graph, of its type.
  ///   - cancellation: as of `run`.
  /// - Throws: `invalidInput` where they do not fit.
  package func run(_ tensors: [Tensor], _ cancellation: Cancellation? = nil) throws(RuntimeError) -> [Tensor] {
    let graph = model.graph
    guard tensors.count == graph.inputs.count else {
      throw .invalidInput(name: "all", reason: "expected \(graph.inputs.count) tensors, got \(tensors.count)")
    }
    for (index, (id, tensor)) in zip(graph.inputs, tensors).enumerated() {
      guard tensor.type == graph[id].type else {
        throw .invalidInput(name: graph[id].name, reason: "expected \(graph[id].type), got \(tensor.type)")
      }
      tensor.bytes.withUnsafeBytes { raw in withInput(index) { $0.copyMemory(from: raw) } }
    }
    try run(cancellation)
    return graph.outputs.enumerated().map { index, id in
      Tensor(graph[id].type, withOutput(index) { Bytes(copying: $0) })
    }
  }

  /// Seconds each node took in the latest run; empty unless the session measures nodes.
  package var nodeTimings: [NodeTiming] { invocations.flatMap(\.nodeTimings) }

  /// The latest run as trace events, its beginning at 0; empty unless the session measures nodes.
  package func trace() -> [TraceEvent] {
    guard measures, let began = marks.first?.start else { return [] }
    var events: [TraceEvent] = []
    for (step, mark) in zip(model.schedule.steps, marks) {
      let start = (mark.start - began).inSeconds
      let duration = (mark.end - mark.start).inSeconds
      switch step {
      case .transfer(let transfer):
        let value = model.graph[transfer.value]
        events.append(
          TraceEvent(
            name: "\(value.name): \(transfer.from) → \(transfer.to)", kind: .transfer, device: transfer.to,
            start: start,
            duration: duration, details: ["bytes": "\(value.type.byteCount)", "from": transfer.from]))
      case .run(let segment):
        let device = model.schedule.segments[segment].device
        for timing in invocations[segment].nodeTimings {
          events.append(
            TraceEvent(
              name: timing.node, kind: .node, device: device, start: start + timing.start, duration: timing.seconds,
              details: ["clock": timing.clock.rawValue]))
        }
      }
    }
    return events
  }

  /// Bytes of memory this session holds on each device.
  package var memory: [String: Int] { arenas.mapValues(\.byteCount) }
}
