import KelvinDevices
package import KelvinGraph
import KelvinPlanning
package import KelvinProfiling
package import KelvinRuntime

/// Measures a model on every device that may run it: each node in context, each transfer, each start.
///
/// For each device the whole graph is compiled onto it, with only the nodes that it cannot run elsewhere, so that a
/// node is measured between its real neighbours, with the shapes and packed weights of a real run. Devices take turns,
/// the order turned round each time, until every median that matters is certain enough or the budget is spent.
package struct NodeProfiler {
  package let context: ModelContext
  package let request: PlanRequest
  package let options: ProfilerOptions
  private let inputs: [Tensor]
  private let kelvinVersion: String
  private let clock: any BenchmarkClock
  private let files: SystemFiles

  /// - Parameters:
  ///   - request: its units are the devices to be measured, the host always among them; pins are ignored.
  ///   - inputs: one tensor for each input of the graph.
  package init(
    _ context: ModelContext, _ request: PlanRequest, inputs: [Tensor], options: ProfilerOptions = .init(),
    kelvinVersion: String,
    clock: any BenchmarkClock = SystemClock(), files: SystemFiles = SystemFiles()
  ) {
    self.context = context
    self.request = request
    self.inputs = inputs
    self.options = options
    self.kelvinVersion = kelvinVersion
    self.clock = clock
    self.files = files
  }

  /// - Throws: `RuntimeError`, `PlanningError`, or `BenchmarkError` where nothing can be measured.
  package func run(_ observe: BenchmarkObserver = { _ in }) throws -> ProfileResult {
    var remarks: [String] = []
    let targets = try devices()
    var runs: [DeviceMeasurement] = []
    for (index, device) in targets.enumerated() {
      let id = device.info.id
      observe(.init(phase: "\(id): compiling", fraction: 0.2 * Double(index) / Double(targets.count)))
      var single = request
      single.units = .devices([id])
      single.isStrict = false
      single.pins = [:]
      let solution = try context.planner.problem(context.graph, single).solve()
      guard solution.placement.values.contains(id) else {
        remarks.append("\(id) runs none of the nodes and was left out")
        continue
      }
      let run = try DeviceMeasurement(
        device, solution, context, precision: request.precision, threads: request.threads, inputs: inputs, clock: clock)
      for _ in 0..<options.warmUps { try run.warmUp() }
      runs.append(run)
    }
    guard !runs.isEmpty else {
      throw BenchmarkError.invalidRequest("none of the devices asked for runs any node of \(context.name)")
    }
    let disturbed = try measureNodes(runs, observe)
    let transfers = try measureTransfers(runs, observe)
    observe(.init(phase: "done", fraction: 1))
    return result(runs, transfers, disturbed: disturbed, remarks: remarks)
  }

  /// The request's units, the host added: values start and end there, so its costs always matter.
  private func devices() throws -> [any Device] {
    let (units, _) = try context.planner.devices(for: request)
    let host = context.inventory.host
    let isExcluded = request.exclusions.contains(host.info.id)
    return units.contains { $0 === host } || isExcluded ? units : [host] + units
  }

  /// - Returns: stretches of time, a quarter of a second or longer, in which somebody else took processor time.
  private func measureNodes(_ runs: [DeviceMeasurement], _ observe: BenchmarkObserver) throws -> Int {
    let budget = options.budget * Double(runs.count)
    let start = clock.now()
    var watch = ContentionWatch(files: files, at: start)
    var disturbed = 0
    for round in 0..<max(options.mostRounds, options.fewestRounds, 1) {
      let elapsed = clock.now() - start
      if round >= options.fewestRounds, elapsed >= budget || runs.allSatisfy(\.isDone) { break }
      let share = min(1, max(elapsed / budget, Double(round) / Double(max(options.mostRounds, 1))))
      for run in round.isMultiple(of: 2) ? runs : runs.reversed() where !run.isDone {
        observe(.init(phase: "\(run.device.info.id): measuring, round \(round + 1)", fraction: 0.2 + 0.7 * share))
        try run.measure()
        if round + 1 >= options.fewestRounds, round % 5 == 4 { run.isDone = run.hasConverged(bound: options.bound) }
      }
      if let contention = watch.interval(at: clock.now()), contention.isDisturbed { disturbed += 1 }
    }
    return disturbed
  }

  private struct Pair: Hashable {
    let from: String
    let to: String
  }

  private func measureTransfers(
    _ runs: [DeviceMeasurement], _ observe: BenchmarkObserver
  ) throws -> [(pair: (from: String, to: String), outcome: TransferProbe.Outcome)] {
    var devices = runs.map(\.device)
    let host = context.inventory.host
    if !devices.contains(where: { $0 === host }) { devices.insert(host, at: 0) }
    let pairs = devices.flatMap { from in devices.filter { $0 !== from }.map { (from, $0) } }
      .filter { !($0.info.isHost && $1.info.isHost) }
    let probe = TransferProbe(clock: clock, budget: min(2, options.budget / 4))
    var outcomes: [(pair: (from: String, to: String), outcome: TransferProbe.Outcome)] = []
    for (index, (from, to)) in pairs.enumerated() {
      let label = "\(from.info.id) → \(to.info.id): transfers"
      observe(.init(phase: label, fraction: 0.9 + 0.1 * Double(index) / Double(pairs.count)))
      outcomes.append(((from.info.id, to.info.id), try probe.measure(from: from, to: to)))
    }
    return outcomes
  }

  private func result(
    _ runs: [DeviceMeasurement],
    _ transfers: [(pair: (from: String, to: String), outcome: TransferProbe.Outcome)], disturbed: Int, remarks: [String]
  ) -> ProfileResult {
    var remarks = remarks
    let outcomes = Dictionary(
      uniqueKeysWithValues: transfers.map { (Pair(from: $0.pair.from, to: $0.pair.to), $0.outcome) })
    func copying(_ trace: [TraceEvent]) -> Double {
      trace.filter { $0.kind == .transfer }.reduce(0) { sum, event in
        guard let from = event.details["from"], let outcome = outcomes[Pair(from: from, to: event.device)],
          !outcome.isShared, let bytes = event.details["bytes"].flatMap(Double.init)
        else { return sum }
        return sum + outcome.fit.latency + bytes / outcome.fit.bytesPerSecond
      }
    }
    let boundaries = Dictionary(
      uniqueKeysWithValues: runs.map { run in
        (run.device.info.id, run.device.info.isHost ? 0 : run.boundarySeconds(copying: copying(run.medianRun.trace)))
      })
    let measured = transfers.map { transfer in
      let (from, to) = transfer.pair
      let half = ((boundaries[from] ?? 0) + (boundaries[to] ?? 0)) / 2
      return ProfileResult.Transfer(
        cost: TransferCost(
          from: from, to: to, latency: transfer.outcome.fit.latency + half,
          bytesPerSecond: transfer.outcome.fit.bytesPerSecond,
          samples: max(transfer.outcome.samples, runs[0].seconds.count),
          isNoisy: transfer.outcome.isNoisy),
        fit: transfer.outcome.fit, isShared: transfer.outcome.isShared)
    }
    let (rows, costs) = nodeCosts(runs)
    let deviceRuns = runs.compactMap { run -> ProfileResult.DeviceRun? in
      guard let latency = try? LatencyStatistics(run.seconds) else { return nil }
      let id = run.device.info.id
      let (seconds, trace) = run.medianRun
      return ProfileResult.DeviceRun(
        device: run.device.info, nodes: run.nodesHere.count, nodesElsewhere: run.placement.count - run.nodesHere.count,
        latency: latency, account: Account(trace, endToEnd: seconds, copying: copying(trace)),
        trace: trace.separatingWaits(),
        compile: run.compile, compileCached: run.compileCached, firstRun: run.firstRun,
        weights: run.weights, noisyNodes: rows.count { $0.costs[id]?.isNoisy ?? false })
    }
    if disturbed > 0 {
      remarks.append(
        "the processors were contended in \(disturbed) stretches of measuring; a quiet machine gives tighter numbers"
      )
    }
    for run in deviceRuns where run.account.residualShare > 0.05 {
      remarks.append(
        "\(run.device.id): \(HumanReadable.percent(run.account.residualShare)) of the time is in no layer, copy or wait: "
          + (run.device.isHost
            ? "handing out work and reading the clock" : "recording and handing out work to the driver"))
    }
    let startup = Dictionary(
      uniqueKeysWithValues: runs.map {
        ($0.device.info.id, StartupCost(load: options.loadSeconds, compile: $0.compileCached, firstRun: $0.firstRun))
      })
    var identities = Dictionary(runs.map { ($0.device.info.id, $0.device.info.identity) }) { first, _ in first }
    let host = context.inventory.host.info
    identities[host.id] = host.identity
    let profile = MeasuredProfile(
      kelvinVersion: kelvinVersion, machine: MachineDescription(files),
      devices: identities.values.sorted { $0.id < $1.id }, nodes: costs, transfers: measured.map(\.cost),
      startup: [context.key.description: startup])
    return ProfileResult(
      profile: profile, model: context.name, function: context.function, precision: request.precision.rawValue,
      threads: request.threads, devices: deviceRuns, nodes: rows, transfers: measured, remarks: remarks)
  }

  /// Costs by node for people, and by key for the profile: samples of identical nodes are pooled.
  private func nodeCosts(
    _ runs: [DeviceMeasurement]
  ) -> (rows: [ProfileResult.NodeRow], costs: [String: [String: NodeCost]]) {
    var costs: [String: [String: NodeCost]] = [:]
    var rows: [ProfileResult.NodeRow] = []
    var pooled: [String: [String: (samples: [Double], source: TimingSource)]] = [:]
    for node in context.graph.nodes {
      let key = CostSheet.key(node, in: context.graph, precision: request.precision, threads: request.threads)
      var row = ProfileResult.NodeRow(
        name: node.name, op: node.op.name, origins: node.originShares.map { ($0.origin.name, $0.share) }, costs: [:],
        unsupported: [:])
      for run in runs {
        let id = run.device.info.id
        if !run.nodesHere.contains(node.name) {
          let support = run.device.support(for: node, in: context.graph, precision: request.precision)
          if case .unsupported(let reason) = support { row.unsupported[id] = reason }
        }
        guard run.nodesHere.contains(node.name), let samples = run.nodeSeconds[node.name],
          let statistics = try? LatencyStatistics(samples)
        else { continue }
        let source: TimingSource = run.clocks[node.name] == .device ? .deviceTimestamps : .hostClock
        row.costs[id] = NodeCost(statistics, source: source, bound: options.bound)
        pooled[key, default: [:]][id, default: ([], source)].samples += samples
      }
      rows.append(row)
    }
    for (key, byDevice) in pooled {
      for (id, entry) in byDevice {
        guard let statistics = try? LatencyStatistics(entry.samples) else { continue }
        costs[key, default: [:]][id] = NodeCost(statistics, source: entry.source, bound: options.bound)
      }
    }
    return (rows, costs)
  }
}
