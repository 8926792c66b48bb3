import KelvinBasics
import KelvinDevices
package import KelvinGraph
package import KelvinMeasurements
import KelvinPlanning
package import KelvinRuntime
import KelvinThermal

/// Measures a model on every device that may run it: each node in context, each transfer, each start, and the gain of
/// devices that work simultaneously. Fits hand-over costs to plans that alternate between devices, and runs the plan
/// that results from all costs.
///
/// For each device, the whole graph is compiled for it; only unsupported nodes run elsewhere. So a node is measured
/// between its real neighbours, with the shapes and packed weights of a real run.
///
/// Devices take turns in alternating order until every relevant median is certain enough or the budget is used. A node
/// in a loop is measured in each iteration, and a profile contains the number of iterations.
package struct NodeProfiler {
  package let context: ModelContext
  package let request: PlanRequest
  package let options: ProfilerOptions
  let inputs: [Tensor]
  let kelvinVersion: String
  let clock: any MeasurementClock
  let files: SystemFiles
  let cancellation: Cancellation?

  /// - Parameters:
  ///   - request: its units are the devices to measure; the host is always added. Pins are ignored.
  ///   - inputs: one tensor for each input of the graph.
  ///   - cancellation: ends the measurements; those made so far are the result, marked as partial.
  package init(
    _ context: ModelContext, _ request: PlanRequest, inputs: [Tensor], options: ProfilerOptions = .init(),
    kelvinVersion: String, cancellation: Cancellation? = nil,
    clock: any MeasurementClock = SystemClock(), files: SystemFiles = SystemFiles()
  ) {
    self.context = context
    self.request = request
    self.inputs = inputs
    self.options = options
    self.kelvinVersion = kelvinVersion
    self.cancellation = cancellation
    self.clock = clock
    self.files = files
  }

  var isCancelled: Bool { cancellation?.isCancelled ?? false }

  /// - Throws: `RuntimeError`, `PlanningError`, or `ProfilerError` when nothing can be measured.
  ///   `RuntimeError.cancelled` when cancelled before anything was measured.
  package func run(_ observe: @escaping MeasurementObserver = { _ in }) throws -> ProfileResult {
    var measured = Measured()
    let progress = ProfileProgress(clock: clock, observe: observe)
    try prepare(&measured, progress)
    expect(measured.runs, progress)
    measured.notePace(threads: request.threads)
    let watch = DisturbanceWatch(files: files, clock: clock)
    measureNodes(measured.runs, watch, progress)
    guard measured.runs.contains(where: { !$0.pairs.isEmpty }) else {
      if isCancelled { throw RuntimeError.cancelled }
      throw ProfilerError.nothingMeasured(
        "nothing could be measured: " + measured.runs.compactMap(\.failure).joined(separator: "; "))
    }
    measured.notePace(threads: request.threads)
    if !isCancelled { measured.remarks += scarce(measured.runs) }
    measured.transfers = measureTransfers(measured.usable, &measured.remarks, progress)
    measureMixes(&measured, watch, progress)
    try tryBestPlan(&measured, watch, progress)
    measureCorun(&measured, progress)
    measureBusyStarts(&measured, progress)
    if isCancelled { measured.remarks.append("interrupted: what was measured until then is kept, marked as partial") }
    measured.disturbances = watch.count
    progress.finish()
    return result(measured)
  }

  /// Sets the expected seconds of the phases after the preparation: the budgets, which phases use up unless their
  /// medians become certain before.
  private func expect(_ runs: [DeviceMeasurement], _ progress: ProfileProgress) {
    let usable = runs.filter { $0.failure == nil }
    progress.expect(.nodes, options.budget * Double(usable.count))
    let several = usable.count > 1
    progress.expect(.mixes, several ? checkBudget(usable) : 0)
    progress.expect(.plans, checkBudget(usable))
    progress.expect(.corun, several ? checkBudget(usable) : 0)
    guard options.measuresBusyStarts else { return }
    let starts = usable.map { $0.compile + $0.firstRun }.filter { $0 <= Self.startsOfBudget * options.share }
    progress.expect(.busyStarts, 2 * starts.reduce(0, +))
  }

  /// The measurements so far.
  struct Measured {
    var runs: [DeviceMeasurement] = []
    var transfers: [MeasuredTransfer] = []
    /// Plans that alternate between devices, to which hand-over costs are fitted.
    var mixes: [PlanMeasurement] = []
    /// Plans that were predicted best and were run in turns with the devices alone.
    var tried: [PlanMeasurement] = []
    var corun: [CorunFactor] = []
    /// The largest pace of the processors so far, because disturbed rounds are left out of the costs too.
    private(set) var pace = 0.0
    var disturbances = 0
    var remarks: [String] = []

    mutating func notePace(threads: Int) { pace = max(pace, ProcessorPace.measure(threads: threads)) }

    /// Devices with measurements that have not failed.
    var usable: [DeviceMeasurement] { runs.filter { $0.failure == nil && !$0.pairs.isEmpty } }

    /// The costs of bare copies, for links that copy.
    var bareCopies: [HandOverFit.Link: TransferFit] {
      Dictionary(
        transfers.filter { !$0.outcome.isShared }.map { (.init(from: $0.from, to: $0.to), $0.outcome.fit) }
      ) { first, _ in first }
    }
  }

  struct MeasuredTransfer {
    var from: String
    var to: String
    var outcome: TransferProbe.Outcome
  }

  /// Compiles the model on every device. A device that fails is left out; when all fail, the first error is thrown.
  private func prepare(_ measured: inout Measured, _ progress: ProfileProgress) throws {
    let targets = try devices()
    let machine = MachineDescription(files)
    let envelope = ThermalEnvelope.assumed(for: machine)
    let cores = max(1, machine.logicalCores)
    let counters = EnergyCounters(files: files)
    let idle = IdlePower(counters, clock: clock, atMost: min(max(0.2 * options.budget, 2), 10))
    var failures: [any Error] = []
    for (index, device) in targets.enumerated() where !isCancelled {
      let id = device.info.id
      progress.report("\(id): compiling", Double(index) / Double(targets.count))
      var single = request
      single.goal = .latency
      single.units = .devices([id])
      single.isStrict = false
      single.pins = [:]
      let solution = try plan(single, on: id)
      guard solution.placement.values.contains(id) else {
        measured.remarks.append("\(id) runs none of the nodes and was excluded")
        continue
      }
      measured.remarks += context.remarks(on: solution.placement, units: [device], precision: request.precision)
      do {
        let run = try DeviceMeasurement(
          device, solution, context, precision: request.precision, threads: request.threads, inputs: inputs,
          clock: clock,
          meter: PowerMeter(
            device.info, counters: counters, envelope: envelope, cores: cores, idle: idle, clock: clock))
        guard device.info.isHost || run.pairSeconds <= options.share else {
          measured.remarks.append(tooSlow(run))
          continue
        }
        for _ in 0..<options.warmUps where !isCancelled && run.pairSeconds * Double(options.warmUps) <= options.share {
          try run.warmUp(cancellation)
        }
        measured.runs.append(run)
      } catch RuntimeError.cancelled {
        return
      } catch {
        failures.append(error)
        measured.remarks.append("\(id) failed and was excluded: \(error)")
      }
    }
    guard measured.runs.isEmpty, !isCancelled else { return }
    if let failure = failures.first { throw failure }
    throw ProfilerError.nothingMeasured("none of the selected devices runs a node of \(context.name)")
  }

  /// Places the nodes on one device. If its memory does not hold the model, the host runs the rest.
  private func plan(_ single: PlanRequest, on device: String) throws -> PlanSolution {
    do { return try context.planner.problem(context.graph, single).solve() } catch let error as PlanningError {
      let host = context.inventory.host.info.id
      guard error.code == .infeasible, device != host else { throw error }
      var shared = single
      shared.units = .devices([device, host])
      return try context.planner.problem(context.graph, shared).solve()
    }
  }

  /// The remark on a device that was left out because it cannot be measured within the budget.
  private func tooSlow(_ run: DeviceMeasurement) -> String {
    "\(run.device.info.id) was not measured: one inference takes \(HumanReadable.seconds(run.inference)), two are more "
      + "than its budget of \(HumanReadable.seconds(options.share)); compilation took "
      + "\(HumanReadable.seconds(run.compile)), the first run \(HumanReadable.seconds(run.firstRun)). "
      + "A budget of \(Int((run.pairSeconds * Double(options.fewestRounds)).rounded(.up))) s measures it"
  }

  /// Returns remarks on devices whose budget allowed fewer rounds than are usually made.
  private func scarce(_ runs: [DeviceMeasurement]) -> [String] {
    runs.filter { $0.failure == nil && !$0.pairs.isEmpty && $0.pairs.count < options.fewestRounds }.map { run in
      "\(run.device.info.id) was measured in \(run.pairs.count) of \(options.fewestRounds) rounds, because one inference "
        + "takes \(HumanReadable.seconds(run.inference)); a budget of "
        + "\(Int((run.pairSeconds * Double(options.fewestRounds)).rounded(.up))) s allows all"
    }
  }

  /// Returns the request's units and the host, where values start and end.
  private func devices() throws -> [any Device] {
    let (units, _) = try context.planner.devices(for: request)
    let host = context.inventory.host
    let isExcluded = request.exclusions.contains(host.info.id)
    return units.contains { $0 === host } || isExcluded ? units : [host] + units
  }

  /// Measures in turns until every device's medians are certain or the budget is used.
  private func measureNodes(_ runs: [DeviceMeasurement], _ watch: DisturbanceWatch, _ progress: ProfileProgress) {
    progress.begin(.nodes)
    let budget = options.budget * Double(runs.count)
    let start = clock.now()
    for round in 0..<max(options.mostRounds, options.fewestRounds, 1) {
      let elapsed = clock.now() - start
      let isOver = elapsed >= budget || runs.allSatisfy { $0.isDone || $0.failure != nil }
      if isCancelled || (round >= options.fewestRounds && isOver) { break }
      let share = min(1, max(elapsed / budget, Double(round) / Double(max(options.mostRounds, 1))))
      for run in round.isMultiple(of: 2) ? runs : runs.reversed() where !run.isDone {
        if round < options.fewestRounds, !run.pairs.isEmpty, run.spent + run.pairSeconds > options.share { continue }
        progress.report("\(run.device.info.id): measuring, round \(round + 1)", share, left: max(0, budget - elapsed))
        turn(run, watch)
        if round + 1 >= options.fewestRounds, round % 5 == 4 {
          run.isDone = run.hasConverged(bound: options.bound, atLeast: options.fewestRounds)
        }
      }
    }
    watch.flush()
    for run in runs { attempt(run) { try run.measurePower(cancellation) } }
  }

  /// Measures one pair of inferences.
  func turn(_ run: DeviceMeasurement, _ watch: DisturbanceWatch) {
    attempt(run) {
      try run.measure(cancellation)
      watch.note(run)
    }
  }

  /// Runs `work` for a device that has not failed. A device that fails takes no further part, but keeps its
  /// measurements.
  private func attempt(_ run: DeviceMeasurement, _ work: () throws -> Void) {
    guard run.failure == nil, !isCancelled else { return }
    do {
      try work()
    } catch RuntimeError.cancelled {
      return
    } catch { run.failure = "\(error)" }
  }

  private func measureTransfers(
    _ runs: [DeviceMeasurement], _ remarks: inout [String], _ progress: ProfileProgress
  ) -> [MeasuredTransfer] {
    progress.begin(.transfers)
    var devices = runs.map(\.device)
    let host = context.inventory.host
    if !devices.contains(where: { $0 === host }) { devices.insert(host, at: 0) }
    let pairs = devices.flatMap { from in devices.filter { $0 !== from }.map { (from, $0) } }
      .filter { !($0.info.isHost && $1.info.isHost) }
    let probe = TransferProbe(clock: clock, budget: min(1, options.budget / 8))
    var outcomes: [MeasuredTransfer] = []
    for (index, (from, to)) in pairs.enumerated() where !isCancelled {
      let label = "\(from.info.id) → \(to.info.id): transfers"
      progress.report(label, Double(index) / Double(pairs.count))
      do throws(DeviceError) {
        outcomes.append(
          MeasuredTransfer(from: from.info.id, to: to.info.id, outcome: try probe.measure(from: from, to: to)))
      } catch {
        remarks.append("copies from \(from.info.id) to \(to.info.id) could not be measured: \(error)")
      }
    }
    return outcomes
  }

  /// How many times the budget of a device its start during other work may take.
  private static let startsOfBudget = 4.0

  private func measureCorun(_ measured: inout Measured, _ progress: ProfileProgress) {
    progress.begin(.corun)
    let runs = measured.usable
    let pairs = runs.indices.flatMap { a in runs.indices.filter { $0 > a }.map { (runs[a], runs[$0]) } }
    guard !pairs.isEmpty else { return }
    let budget = options.budget * options.checkShare * Double(runs.count) / Double(pairs.count)
    for (index, (a, b)) in pairs.enumerated() where !isCancelled {
      let label = "\(a.device.info.id) beside \(b.device.info.id)"
      guard CorunProbe.seconds(a, b) <= max(2 * budget, ProfilerOptions.leastBudget) else {
        measured.remarks.append("\(label) was not measured, because it takes longer than the budget")
        continue
      }
      progress.report(label, Double(index) / Double(pairs.count))
      do throws(RuntimeError) {
        if let factor = try CorunProbe(clock: clock, budget: budget).measure(a, b, cancellation) {
          measured.corun.append(factor)
        }
      } catch {
        if case .cancelled = error { return }
        measured.remarks.append("\(label) could not be measured: \(error)")
      }
    }
  }

  /// Compiles and runs again on every device while each processor is busy with other work.
  private func measureBusyStarts(_ measured: inout Measured, _ progress: ProfileProgress) {
    progress.begin(.busyStarts)
    guard !isCancelled, options.measuresBusyStarts,
      let load = try? SyntheticLoad(
        CoLoad(shares: [context.inventory.host.info.id: 0.95]), context.inventory,
        processors: MachineDescription(files).workingCores)
    else { return }
    load.start()
    defer { load.stop() }
    for (index, run) in measured.usable.enumerated() where !isCancelled {
      let id = run.device.info.id
      guard run.compile + run.firstRun <= Self.startsOfBudget * options.share else {
        measured.remarks.append("\(id): the start during other work was not measured, because it exceeds the budget")
        continue
      }
      progress.report("\(id): compiling during other work", Double(index) / Double(measured.usable.count))
      do {
        let start = try ColdStart(
          run.solution, context, precision: request.precision, threads: request.threads, inputs: inputs,
          clock: clock)
        (run.busyCompile, run.busyFirstRun) = (start.compile, start.firstRun)
      } catch { measured.remarks.append("\(id): the start during other work could not be measured: \(error)") }
    }
  }
}
