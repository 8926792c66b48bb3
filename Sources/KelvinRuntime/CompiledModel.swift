import KelvinBasics
package import KelvinDevices
package import KelvinGraph
package import KelvinPlanning

/// A graph compiled for one placement: immutable, shared by any number of sessions.
package final class CompiledModel: Sendable {
  /// The graph with its control flow flattened.
  package let flat: FlatGraph
  package let schedule: Schedule
  /// Node names to device ids.
  package let placement: [String: String]
  package let transfers: [PlannedTransfer]
  /// The names of the nodes whose weights are copied to their device before each use.
  package let streamed: Set<String>
  let layout: BufferLayout
  let recordedCopies: RecordedCopies
  /// By device, the bytes of scratch memory. Submissions to one device run in order, so its segments share it.
  let scratchByteCounts: [String: Int]
  /// The bytes of values and scratch memory of one inference, on all devices together.
  package let sessionByteCount: Int
  let executables: [any Executable]
  let devices: [String: any Device]
  /// The device whose memory is host memory.
  package let host: String
  /// Kept alive so that other compilations find the weights that devices packed and uploaded.
  private let stores: [any PackedWeights]

  /// The nodes of all regions.
  package var graph: Graph { flat.graph }

  /// The memory of the weights, including packed layouts that other compilations made in the same stores.
  package var weightReport: WeightReport {
    let packed = Dictionary(zip(schedule.segments.map(\.device), stores.map(\.footprint))) { first, _ in first }
    return WeightReport(graph, packed: packed)
  }

  /// The device that holds each state, by the state's name.
  package var stateDevices: [String: String] {
    Dictionary(zip(graph.states, flat.sources).map { ($0.name, placement[$1.name] ?? host) }) { first, _ in first }
  }

  /// The devices that run nodes or hold values.
  package var usedDevices: Set<String> { Set(devices.keys) }

  /// The kernel of each node, named by its device, such as `winograd 4x4`. Nodes whose device reports no name are
  /// missing.
  package var kernels: [String: String] {
    executables.reduce(into: [:]) { $0.merge($1.kernels) { first, _ in first } }
  }

  /// The devices other than the host, in the order of their ids.
  package let otherDevices: [any Device]

  /// Whether the model uses a device other than the host.
  var callsDrivers: Bool { !otherDevices.isEmpty }

  /// Whether sessions may read inputs from the caller's memory: only the host runs the model, so that nothing reads the
  /// memory after a run, and no other value has an input's memory.
  package let readsInputsInPlace: Bool

  /// Whether one of the model's devices has failed.
  package var isOut: Bool { devices.values.contains { !$0.health.mayFree } }

  /// Receives progress and can cancel a compilation between nodes.
  package struct Observer: Sendable {
    /// Receives the completed share of the work, 0…1.
    package var progress: @Sendable (Double) -> Void
    package var isCancelled: @Sendable () -> Bool

    package init(
      progress: @escaping @Sendable (Double) -> Void = { _ in }, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
      self.progress = progress
      self.isCancelled = isCancelled
    }
  }

  /// Compiles every segment of a placement.
  ///
  /// - Parameters:
  ///   - transfers: the plan's copies.
  ///   - streamed: the names of the nodes whose weights are copied to their device before each use.
  ///   - specialization: the facts besides input types that the graph was built for.
  ///   - storage: packed weights and blobs, from the compiled cache or in memory.
  ///   - tuning: which kernels may be chosen by timing.
  ///   - watchdog: the time limits of devices.
  ///   - expecting: the expected seconds of a node on an asynchronous device; nil if unknown.
  ///   - overlap: decides which segments end early, for the sake of other devices; nil if none does.
  /// - Throws: `RuntimeError`, `.cancelled` included.
  package init(
    _ graph: Graph, placement: [String: String], transfers: [PlannedTransfer], streamed: Set<String> = [],
    inventory: DeviceInventory, precision: Precision, threads: Int, isDeterministic: Bool = false,
    specialization: [String] = [], storage: (any Device) -> (weights: any PackedWeights, blobs: any BlobCache),
    tuning: KernelTuning = KernelTuning(.off), watchdog: Watchdog = .standard,
    expecting: (Node, Graph, any Device) -> Double? = { _, _, _ in nil }, overlap: OverlapCosts? = nil,
    observer: Observer = Observer()
  ) throws(RuntimeError) {
    // Devices may call `goesOn` from their own threads.
    let budget = WorkBudget.current
    budget?.enter(.compiling)
    let isCancelled = { @Sendable in observer.isCancelled() || budget?.isSpent == true }
    let flat = FlatGraph(graph)
    let graph = flat.graph
    var devices = [inventory.host.info.id: inventory.host]
    for id in Set(flat.placedNames.compactMap { placement[$0] }).union(transfers.flatMap { [$0.from, $0.to] }) {
      devices[id] = try inventory.device(id)
    }
    let host = inventory.host.info.id
    let isHost: (String) -> Bool = { [devices] in devices[$0]?.info.isHost ?? false }
    let schedule = try Schedule(
      flat, placement: placement, transfers: transfers, host: host, isHost: isHost, costs: overlap)
    var unified: [String: Bool] = [:]
    for (id, device) in devices {
      // Set before the first call to the device, not only before the first compilation.
      device.health.allow(watchdog.floor)
      do { unified[id] = try device.makeBuffer(byteCount: bufferAlignment).hostPointer != nil } catch {
        throw .device(error)
      }
    }
    layout = BufferLayout(
      flat, schedule, placement: placement, host: host, isHost: isHost, isUnified: { unified[$0] ?? false })
    recordedCopies = RecordedCopies(flat, schedule)
    let facts = graph.types(graph.inputs + graph.states.map(\.read)).map { "\($0)" } + specialization
    var executables: [any Executable] = []
    var stores: [any PackedWeights] = []
    let count = schedule.segments.count
    let last = Dictionary(schedule.segments.enumerated().map { ($1.device, $0) }, uniquingKeysWith: max)
    for (index, segment) in schedule.segments.enumerated() {
      if isCancelled() { throw .cancelled }
      observer.progress(Double(index) / Double(count))
      guard let device = devices[segment.device] else { preconditionFailure("\(segment.device) was looked up above") }
      let (weights, blobs) = storage(device)
      stores.append(weights)
      let isLast = last[segment.device] == index
      var expected: [String: Double] = [:]
      if !device.info.isHost {
        for node in segment.graph.nodes { expected[node.name] = expecting(node, segment.graph, device) }
      }
      do {
        executables.append(
          try device.compile(
            Segment(
              graph: segment.graph.namingWeights(for: facts), precision: precision, threads: threads,
              isDeterministic: isDeterministic, weights: weights, blobs: blobs, tuning: tuning,
              expectedSeconds: expected, streamed: streamed, watchdog: watchdog,
              didPack: { if isLast { weights.didPackAll() } },
              goesOn: { fraction in
                observer.progress((Double(index) + fraction) / Double(count))
                return !isCancelled()
              })))
      } catch { throw error.code == .cancelled ? .cancelled : .device(error) }
      if isLast, index + 1 < count { weights.didPackAll() }
    }
    var scratch: [String: Int] = [:]
    for (segment, executable) in zip(schedule.segments, executables) where executable.scratchByteCount > 0 {
      scratch[segment.device] = max(scratch[segment.device] ?? 0, executable.scratchByteCount)
    }
    scratchByteCounts = scratch
    var needed: [String: Int] = [:]
    for (domain, byteCount) in layout.arenas { needed[domain == BufferLayout.hostDomain ? host : domain] = byteCount }
    needed.merge(scratch) { $0.addingReportingOverflow($1).overflow ? .max : $0 + $1 }
    try Self.check(needed, devices)
    sessionByteCount = needed.values.reduce(0) { $0.addingReportingOverflow($1).overflow ? .max : $0 + $1 }
    guard budget?.admits(bytes: sessionByteCount) ?? true else { throw .cancelled }
    observer.progress(1)
    self.flat = flat
    self.schedule = schedule
    self.placement = placement
    self.transfers = transfers
    self.streamed = streamed
    self.executables = executables
    self.devices = devices
    otherDevices = devices.values.filter { !$0.info.isHost }.sorted { $0.info.id < $1.info.id }
    readsInputsInPlace = otherDevices.isEmpty && flat.memory.indices.allSatisfy { flat.memory[$0].index == $0 }
    self.host = host
    self.stores = stores
  }

  /// Rejects a model whose values and scratch memory do not fit a device, before a session allocates them. Weights
  /// have been packed at this point.
  private static func check(_ needed: [String: Int], _ devices: [String: any Device]) throws(RuntimeError) {
    for (id, byteCount) in needed.sorted(by: { $0.key < $1.key }) {
      guard let info = devices[id]?.info, info.memory > 0 else { continue }
      let memory = info.isHost ? min(info.memory, HostMemory.limit) : info.memory
      guard byteCount > memory else { continue }
      throw .device(
        DeviceError(
          .outOfMemory, device: id, place: "one inference",
          reason: "needs \(byteCount >> 20) MiB for its values, the device has \(memory >> 20) MiB;"
            + " give smaller input shapes or another device", byteCount: byteCount))
    }
  }

  /// Creates a session, which runs one inference at a time.
  ///
  /// - Parameters:
  ///   - measuresNodes: whether the session records each node's time.
  ///   - outputs: memory for outputs, by index. An output is written in place if the buffer fits it and the output
  ///     has host memory of its own: see `Session.callerOwnedOutputs`.
  ///   - context: provides the memory, which sessions share one run at a time; a new one unless given.
  package func makeSession(
    measuresNodes: Bool = false, outputs: [Int: CallerBuffer] = [:], in context: ExecutionContext = ExecutionContext()
  ) throws(RuntimeError) -> Session {
    try Session(self, measuresNodes: measuresNodes, CallerMemory(outputs: outputs), states: nil, in: context)
  }
}
