import KelvinBasics
package import KelvinDevices
package import KelvinGraph
package import KelvinPlanning

/// A graph prepared for one placement: immutable, shared by any number of sessions.
package final class CompiledModel: Sendable {
  /// Its control flow written out.
  package let flat: FlatGraph
  package let schedule: Schedule
  /// Node name to device id.
  package let placement: [String: String]
  package let transfers: [PlannedTransfer]
  let layout: BufferLayout
  /// What values and scratch of one inference take, on all devices together.
  package let sessionByteCount: Int
  let executables: [any Executable]
  let devices: [String: any Device]
  /// The device whose memory is the host's.
  package let host: String
  /// Kept so that other compilations find what devices have packed and uploaded for this one.
  private let stores: [any PackedWeights]

  /// What devices run: the nodes of all regions.
  package var graph: Graph { flat.graph }

  /// The memory that the weights take, packed forms of other compilations that share them included.
  package var weightReport: WeightReport {
    let packed = Dictionary(zip(schedule.segments.map(\.device), stores.map(\.footprint))) { first, _ in first }
    return WeightReport(graph, packed: packed)
  }

  /// The device that each state lies on, by the state's name.
  package var stateDevices: [String: String] {
    Dictionary(zip(graph.states, flat.sources).map { ($0.name, placement[$1.name] ?? host) }) { first, _ in first }
  }

  /// The devices that run nodes or hold values.
  package var usedDevices: Set<String> { Set(devices.keys) }

  /// What computes each node, by its device's own names: `winograd 4x4`; nodes of which nobody says are not there.
  package var kernels: [String: String] {
    executables.reduce(into: [:]) { $0.merge($1.kernels) { first, _ in first } }
  }

  /// Whether one of its devices is not the host's own.
  var callsDrivers: Bool { devices.values.contains { !$0.info.isHost } }

  /// Whether one of its devices is out.
  package var isOut: Bool { devices.values.contains { !$0.health.mayFree } }

  /// Reports progress and lets a caller give up between nodes.
  package struct Observer: Sendable {
    /// How much of the work is done, 0…1.
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
  ///   - specialization: what the graph was built for besides the types of its inputs.
  ///   - storage: packed weights and blobs, from the compiled cache or in memory.
  ///   - tuning: which kernels may be chosen by timing.
  ///   - watchdog: how long devices may take.
  ///   - expecting: seconds that a node is expected to take on a device that works on its own; nil where nobody knows.
  /// - Throws: `RuntimeError`, `.cancelled` included.
  package init(
    _ graph: Graph, placement: [String: String], transfers: [PlannedTransfer], inventory: DeviceInventory,
    precision: Precision, threads: Int, isDeterministic: Bool = false, specialization: [String] = [],
    storage: (any Device) -> (weights: any PackedWeights, blobs: any BlobCache),
    tuning: KernelTuning = KernelTuning(.off), watchdog: Watchdog = .standard,
    expecting: (Node, Graph, any Device) -> Double? = { _, _, _ in nil }, observer: Observer = Observer()
  ) throws(RuntimeError) {
    // Devices may ask whether to go on from threads of their own.
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
    let isHost: (String) -> Bool = { devices[$0]?.info.isHost ?? false }
    let schedule = try Schedule(flat, placement: placement, transfers: transfers, host: host, isHost: isHost)
    var unified: [String: Bool] = [:]
    for (id, device) in devices {
      // From the first call on, rather than from the first compilation.
      device.health.allow(watchdog.floor)
      do { unified[id] = try device.makeBuffer(byteCount: bufferAlignment).hostPointer != nil } catch {
        throw .device(error)
      }
    }
    layout = BufferLayout(
      flat, schedule, placement: placement, host: host, isHost: isHost, isUnified: { unified[$0] ?? false })
    let facts = graph.types(graph.inputs).map { "\($0)" } + specialization
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
              expectedSeconds: expected, watchdog: watchdog,
              didPack: { if isLast { weights.didPackAll() } },
              goesOn: { fraction in
                observer.progress((Double(index) + fraction) / Double(count))
                return !isCancelled()
              })))
      } catch { throw error.code == .cancelled ? .cancelled : .device(error) }
      if isLast, index + 1 < count { weights.didPackAll() }
    }
    let needed = Self.needed(schedule, layout, executables, host)
    try Self.check(needed, devices)
    sessionByteCount = needed.values.reduce(0) { $0.addingReportingOverflow($1).overflow ? .max : $0 + $1 }
    guard budget?.admits(bytes: sessionByteCount) ?? true else { throw .cancelled }
    observer.progress(1)
    self.flat = flat
    self.schedule = schedule
    self.placement = placement
    self.transfers = transfers
    self.executables = executables
    self.devices = devices
    self.host = host
    self.stores = stores
  }

  /// What values and scratch of one inference need, by device.
  private static func needed(
    _ schedule: Schedule, _ layout: BufferLayout, _ executables: [any Executable], _ host: String
  ) -> [String: Int] {
    var needed: [String: Int] = [:]
    for (domain, byteCount) in layout.arenas { needed[domain == BufferLayout.hostDomain ? host : domain] = byteCount }
    var scratch: [String: Int] = [:]
    for (segment, executable) in zip(schedule.segments, executables) {
      scratch[segment.device] = max(scratch[segment.device] ?? 0, executable.scratchByteCount)
    }
    return needed.merging(scratch) { $0.addingReportingOverflow($1).overflow ? .max : $0 + $1 }
  }

  /// Refuses a model whose values and scratch cannot fit a device, before a session allocates them. Weights have been
  /// packed by then.
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

  /// Recordings for one inference at a time, bound to memory.
  ///
  /// - Parameters:
  ///   - measuresNodes: whether sessions record each node's time.
  ///   - outputs: memory for outputs, by position. It is written in place where it suits the output and the output's
  ///     own place is host memory of its own: see `Session.callerOwnedOutputs`.
  ///   - memory: what it runs in, in turns with the other sessions there; its own unless given.
  package func makeSession(
    measuresNodes: Bool = false, outputs: [Int: CallerBuffer] = [:], memory: SessionArena = SessionArena()
  ) throws(RuntimeError) -> Session {
    try Session(self, measuresNodes: measuresNodes, outputs: outputs, memory: memory)
  }
}
