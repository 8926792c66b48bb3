import KelvinBasics
import KelvinDevices
package import KelvinGraph
package import KelvinMeasurements

/// One caller's inferences with a compiled model: its invocations on every device, bound to memory.
///
/// A session has one owner at a time. Sessions with memory of their own may run at the same time; sessions in one
/// `ExecutionContext` must take turns. After creation, `run` allocates nothing on the CPU path.
package final class Session {
  package let model: CompiledModel
  /// The context's buffers by device, retained because the context may replace them.
  private let buffers: [(device: String, buffer: any Buffer)]
  /// Retained because copies only store addresses. Their owner is not retained, because it may retain this session.
  private let stateBuffers: [any Buffer]
  private let invocations: [any Invocation]
  /// For each segment, whether its latest submission may still be executing.
  private var isInFlight: [Bool]
  private let steps: [BoundStep]
  private let inputs: [BufferSlice]
  private let outputs: [BufferSlice]
  /// The record of the latest run; nil unless the session measures nodes.
  package private(set) var record: SessionRecord?
  /// Ends a run in progress at its next check point.
  private let stop = StopSignal()

  /// The number of copies made by the latest run, including copies within shared memory.
  package private(set) var transferCount = 0

  /// The caller's memory that the session was made for.
  private let callerMemory: CallerMemory
  /// The indices of the inputs that runs read from memory of the caller.
  package let callerOwnedInputs: Set<Int>
  /// The indices of the outputs that runs write to memory of the caller.
  package let callerOwnedOutputs: Set<Int>

  /// - Parameters:
  ///   - callerMemory: the caller's memory for inputs and outputs.
  ///   - states: memory of the states, whose owner moves the contents to the session's devices; the session's own
  ///     unless given.
  ///   - context: provides the memory of values and scratch.
  init(
    _ model: CompiledModel, measuresNodes: Bool, _ callerMemory: CallerMemory, states: StateMemory?,
    in context: ExecutionContext
  ) throws(RuntimeError) {
    self.model = model
    self.callerMemory = callerMemory
    let states = states ?? StateMemory()
    var callerBuffers: [ValueID: CallerBuffer] = [:]
    var callerOwnedOutputs: Set<Int> = []
    for (index, buffer) in callerMemory.outputs.sorted(by: { $0.key < $1.key }) {
      let value = model.graph.outputs[index]
      let slot = model.layout.slot(value, on: model.host)
      guard slot.domain == BufferLayout.hostDomain, buffer.suits(model.graph[value].type), callerBuffers[value] == nil,
        slot.state == nil, !model.graph.inputs.contains(value), model.flat.memory[value.index] == value
      else { continue }
      callerBuffers[value] = buffer
      callerOwnedOutputs.insert(index)
    }
    self.callerOwnedOutputs = callerOwnedOutputs
    let borrowed = model.borrowedInputs(callerMemory)
    for index in borrowed { callerBuffers[model.graph.inputs[index]] = callerMemory.inputs[index] }
    callerOwnedInputs = borrowed
    record = measuresNodes ? SessionRecord(model.schedule, host: model.host) : nil
    do {
      func device(_ domain: String) -> any Device {
        guard let device = model.devices[domain == BufferLayout.hostDomain ? model.host : domain] else {
          preconditionFailure("no device for the domain \(domain)")
        }
        return device
      }
      var buffers: [(device: String, buffer: any Buffer)] = []
      var arenas: [String: any Buffer] = [:]
      for (domain, byteCount) in model.layout.arenas {
        let device = device(domain)
        let arena = try context.valueBuffer(max(byteCount, bufferAlignment), on: device)
        arenas[domain] = arena
        buffers.append((device.info.id, arena))
      }
      var stateBuffers: [any Buffer] = []
      for (state, domain) in zip(model.graph.states, model.layout.stateDomains) {
        stateBuffers.append(
          try states.buffer(
            state.name, byteCount: model.graph[state.read].type.byteCount, domain: domain, on: device(domain)))
      }
      func slice(_ value: ValueID, on device: String) -> BufferSlice {
        let slot = model.layout.slot(value, on: device)
        if let state = slot.state { return BufferSlice(stateBuffers[state], offset: 0, byteCount: slot.byteCount) }
        if slot.domain == BufferLayout.hostDomain, let buffer = callerBuffers[model.flat.memory[value.index]] {
          return BufferSlice(buffer, offset: 0, byteCount: slot.byteCount)
        }
        guard let arena = arenas[slot.domain] else { preconditionFailure("no arena on \(slot.domain)") }
        return BufferSlice(arena, offset: slot.offset, byteCount: slot.byteCount)
      }
      var scratch: [String: any Buffer] = [:]
      for (id, byteCount) in model.scratchByteCounts {
        let made = try context.scratchBuffer(byteCount, on: device(id))
        scratch[id] = made
        buffers.append((id, made))
      }
      var invocations: [any Invocation] = []
      for (number, (segment, executable)) in zip(model.schedule.segments, model.executables).enumerated() {
        let size = executable.scratchByteCount
        invocations.append(
          try executable.bind(
            Bindings(
              inputs: segment.inputs.map { slice($0, on: segment.device) },
              outputs: segment.outputs.map { slice($0, on: segment.device) },
              scratch: size > 0
                ? scratch[segment.device].map { BufferSlice($0, offset: 0, byteCount: size) } : nil,
              measuresNodes: measuresNodes, hostInputs: model.recordedCopies.inputs(of: number),
              hostOutputs: model.recordedCopies.outputs(of: number), stop: stop)))
      }
      steps = try model.boundSteps(invocations, slice)
      inputs = model.graph.inputs.map { slice($0, on: model.host) }
      outputs = model.graph.outputs.map { slice($0, on: model.host) }
      self.buffers = buffers
      self.stateBuffers = stateBuffers
      self.invocations = invocations
      isInFlight = Array(repeating: false, count: invocations.count)
    } catch { throw .device(error) }
  }

  /// Whether the session was made for this memory of the caller.
  func wasMade(for memory: CallerMemory) -> Bool { callerMemory.isPlaced(like: memory) }

  /// Passes the memory to which an input's elements must be written before `run`: dense, row-major, in the graph's
  /// type. Inputs in `callerOwnedInputs` must not be written.
  package func withInput<Failure: Error>(
    _ index: Int, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    try body(Self.memory(inputs[index]))
  }

  /// Passes an output's elements, valid until the next run on the session's memory.
  package func withOutput<Result, Failure: Error>(
    _ index: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(Self.memory(outputs[index])))
  }

  /// The host's slots are in memory that the host can address: its own arena, or a unified device's.
  private static func memory(_ slice: BufferSlice) -> UnsafeMutableRawBufferPointer {
    guard let pointer = slice.hostPointer else { preconditionFailure("a value on the host has no host memory") }
    return UnsafeMutableRawBufferPointer(start: pointer, count: slice.byteCount)
  }

  /// By device, the bytes of the session's memory and of the model's packed weights. Additional memory of drivers is
  /// not included.
  package var byteCounts: [String: Int] {
    Dictionary(
      buffers.map { ($0.device, $0.buffer.byteCount) } + model.weightReport.packed.map { ($0.device, $0.bytes) },
      uniquingKeysWith: +)
  }

  /// Runs one inference on the inputs written before. Returns when the outputs can be read. Inputs must be written
  /// before every run: their memory is reused once they have been read.
  ///
  /// - Parameter cancellation: ends the run at its next check point: between nodes on the host, between submissions
  ///   elsewhere. The session can be used again.
  /// - Throws: `cancelled`, or `device` if a device failed. No device is executing then, except a failed one, whose
  ///   memory stays allocated (`DeviceHealth`).
  package func run(_ cancellation: Cancellation? = nil) throws(RuntimeError) {
    try Cancellation.bounded(cancellation) { (cancellation: Cancellation?) throws(RuntimeError) in
      guard let cancellation else { return try runSteps() }
      defer { stop.clear() }
      let stop = stop
      try cancellation.observing({ stop.set() }) { () throws(RuntimeError) in try runSteps() }
    }
  }

  private func runSteps() throws(RuntimeError) {
    do throws(DeviceError) {
      guard model.callsDrivers else { return try runAll() }
      // The whole run is one call on the driver thread, because switching threads for every call would cost more.
      try DriverThread.perform { [self] () throws(DeviceError) in try runAll() }
    } catch {
      if error.code == .cancelled { throw .cancelled }
      if error.takesDeviceOut { model.devices[error.device]?.health.takeOut(error) }
      throw .device(error)
    }
  }

  private func runAll() throws(DeviceError) {
    do throws(DeviceError) {
      transferCount = 0
      record?.begin()
      try run(steps)
      try finish(invocations.indices)
    } catch {
      // Other devices may still be executing, on memory that the caller is free to release.
      for segment in invocations.indices where isInFlight[segment] {
        try? invocations[segment].completion.wait()
        isInFlight[segment] = false
      }
      throw error
    }
  }

  private func run(_ steps: [BoundStep]) throws(DeviceError) {
    for step in steps {
      try stop.check(device: model.host)
      switch step {
      case .run(let segment, let others, let number):
        try finish(others)
        let start = record.map { _ in SessionRecord.now }
        isInFlight[segment] = true
        try invocations[segment].submit()
        if let start {
          record?.add(step: number, from: start)
          if model.devices[model.schedule.segments[segment].device]?.info.isHost == true {
            try finish(segment...segment)
          }
        }
      case .transfer(let producers, let copy, let number):
        let start = record.map { _ in SessionRecord.now }
        for producer in producers { try finish(producer...producer) }
        transferCount += 1
        try copy.perform()
        if let start { record?.add(step: number, from: start) }
      case .branch(let branch, let condition, let then, let otherwise):
        let isTaken = condition.isTrue
        if let refusal = (isTaken ? branch.then : branch.otherwise).refusal {
          throw DeviceError(
            .unsupported, device: model.host, place: "branch '\(branch.name)'",
            reason: "these inputs take its \(isTaken ? "first" : "second") region, which cannot run: \(refusal)")
        }
        record?.tookSide(isTaken, of: branch.name)
        record?.enter("\(branch.name)/\((isTaken ? Region.Role.then : .otherwise).rawValue)")
        try run(isTaken ? then : otherwise)
        record?.leave()
      case .loop(let loop): try run(loop)
      }
    }
  }

  private func run(_ loop: BoundLoop) throws(DeviceError) {
    let limit = loop.limit.integer
    var goesOn = loop.condition?.isTrue ?? true
    var iteration = 0
    record?.enter(loop.name)
    for (_, accumulated) in loop.rows { accumulated.initializeMemory(as: UInt8.self, repeating: 0) }
    while goesOn, limit < 0 || iteration < limit {
      try stop.check(device: model.host)
      loop.iteration.storeBytes(of: Int64(iteration), as: Int64.self)
      record?.enter(Region.Role.body.rawValue, iteration: iteration)
      try run(loop.body)
      // The next iteration overwrites memory that this one reads.
      for segment in loop.segments { try finish(segment...segment) }
      record?.leave()
      for (row, accumulated) in loop.rows {
        let offset = iteration * row.count
        guard offset + row.count <= accumulated.count else {
          throw DeviceError(
            .execution, device: model.host, place: "loop '\(loop.name)'",
            reason:
              "makes more than the \(row.count == 0 ? 0 : accumulated.count / row.count) iterations that its outputs"
              + " have rows for")
        }
        UnsafeMutableRawBufferPointer(rebasing: accumulated[offset..<offset + row.count]).copyMemory(
          from: UnsafeRawBufferPointer(row))
      }
      if let next = loop.nextCondition { goesOn = next.isTrue }
      iteration += 1
    }
    loop.iterations.storeBytes(of: Int64(iteration), as: Int64.self)
    record?.leave()
    record?.ended(loop.name, after: iteration)
  }

  /// Waits for submissions that may be executing.
  private func finish(_ segments: some Sequence<Int>) throws(DeviceError) {
    for segment in segments where isInFlight[segment] {
      isInFlight[segment] = false
      try invocations[segment].completion.wait()
      if record != nil { record?.finished(segment, invocations[segment].nodeTimings) }
    }
  }

  /// Runs one inference on tensors.
  ///
  /// - Parameters:
  ///   - tensors: one for each input of the graph, of its type.
  ///   - cancellation: as for `run(_:)`.
  /// - Throws: `invalidInput` if the tensors do not fit, or the errors of `run(_:)`.
  package func run(_ tensors: [Tensor], _ cancellation: Cancellation? = nil) throws(RuntimeError) -> [Tensor] {
    try write(tensors)
    try run(cancellation)
    return model.graph.outputs.enumerated().map { index, id in
      Tensor(model.graph[id].type, withOutput(index) { Bytes(copying: $0) })
    }
  }

  /// Writes the inputs of the next run.
  ///
  /// - Throws: `invalidInput` if the tensors do not fit.
  package func write(_ tensors: [Tensor]) throws(RuntimeError) {
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
  }

  /// Returns the latest run as trace events, which begin at 0 s; empty unless the session measures nodes.
  package func trace() -> [TraceEvent] {
    record?.events { transfer in
      let value = model.graph[transfer.value]
      return (value.name, value.type.byteCount)
    } ?? []
  }
}

extension CompiledModel {
  /// Returns the indices of the inputs that a session reads from the caller's memory.
  fileprivate func borrowedInputs(_ memory: CallerMemory) -> Set<Int> {
    guard !memory.inputs.isEmpty, readsInputsInPlace else { return [] }
    let borrowed = memory.inputs.filter { index, buffer in
      let value = graph.inputs[index]
      let slot = layout.slot(value, on: host)
      return slot.domain == BufferLayout.hostDomain && slot.state == nil && buffer.suits(graph[value].type)
        && !graph.outputs.contains(value) && !memory.outputs.values.contains { $0.overlaps(buffer) }
    }
    return Set(borrowed.keys)
  }
}
