import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime

/// Whole plans beside the devices alone: those from which hand-over costs are told, and the one that is best by them.
extension NodeProfiler {
  /// Runs plans that alternate between the devices.
  func measureMixes(_ measured: inout Measured, _ watch: DisturbanceWatch, _ observe: MeasurementObserver) {
    let runs = measured.usable
    guard runs.count > 1, !isCancelled else { return }
    let runnable = runs.map { (id: $0.device.info.id, nodes: $0.nodesHere) }
    var design = MixedDesign(context.with(costs: CostSheet(profile(measured))), request, runnable: runnable)
    let wanted = MixedDesign.count(devices: runs.count)
    let budget = checkBudget(runs)
    let start = clock.now()
    // As many sessions as there are plans would need as many times the memory.
    let memory = SessionArena()
    var mixes: [PlanMeasurement] = []
    while mixes.count < wanted, !isCancelled, let solution = design.next() {
      // Where compiling takes long, the plans that there are by then do.
      if clock.now() - start > 2 * budget, 2 * mixes.count >= wanted { break }
      observe(
        .init(
          phase: "alternating between devices: compiling", fraction: 0.6 + 0.1 * Double(mixes.count) / Double(wanted)))
      do { mixes.append(try PlanMeasurement(solution, context, request, inputs: inputs, memory: memory)) } catch {
        measured.remarks.append("a plan of several devices could not be run: \(error)")
        break
      }
    }
    measured.mixes = mixes
    guard !mixes.isEmpty else { return }
    runRounds(runs, mixes, budget: budget, watch) { round, share in
      observe(.init(phase: "alternating between devices, round \(round + 1)", fraction: 0.7 + 0.1 * share))
    }
    drop(&measured.mixes, &measured.remarks)
  }

  /// As many as a verdict on one plan against another needs, and two that may be disturbed.
  private static let roundsOfTrial = PairedComparison.fewestPairs + 2

  /// Runs the best plan by the costs so far, where it is of several devices, in turns with each device alone.
  func tryBestPlan(_ measured: inout Measured, _ watch: DisturbanceWatch, _ observe: MeasurementObserver) throws {
    guard !isCancelled else { return }
    observe(.init(phase: "planning with what was measured", fraction: 0.8))
    if let best = try bestPlan(measured) {
      do {
        measured.tried = [try PlanMeasurement(best, context, request, inputs: inputs, memory: SessionArena())]
      } catch {
        measured.remarks.append("the best plan could not be run: \(error)")
      }
    }
    let runs = measured.usable
    runRounds(runs, measured.tried, atLeast: Self.roundsOfTrial, budget: checkBudget(runs), watch) {
      round, share in
      observe(.init(phase: "running the plans, round \(round + 1)", fraction: 0.82 + 0.06 * share))
    }
    drop(&measured.tried, &measured.remarks)
  }

  private func checkBudget(_ runs: [DeviceMeasurement]) -> Double {
    options.budget * options.checkShare * Double(runs.count)
  }

  /// Each device alone and then each plan, in turns, until all medians are certain enough or the budget is spent.
  private func runRounds(
    _ runs: [DeviceMeasurement], _ plans: [PlanMeasurement], atLeast enough: Int = 0, budget: Double,
    _ watch: DisturbanceWatch,
    _ observe: (_ round: Int, _ share: Double) -> Void
  ) {
    let start = clock.now()
    for round in 0..<options.mostRounds where !isCancelled {
      let elapsed = clock.now() - start
      if round >= max(options.fewestRounds, enough) {
        let areCertain =
          round.isMultiple(of: 5) && runs.allSatisfy { isCertain($0) }
          && plans.allSatisfy { $0.failure != nil || isCertain($0.samples.map(\.seconds)) }
        if elapsed >= budget || areCertain { break }
      }
      observe(round, min(1, elapsed / budget))
      var beside: [String: Double] = [:]
      for run in round.isMultiple(of: 2) ? runs : runs.reversed() {
        turn(run, watch)
        if run.failure == nil { beside[run.device.info.id] = run.pairs.last?.plain }
      }
      for plan in round.isMultiple(of: 2) ? plans : plans.reversed() {
        do throws(RuntimeError) {
          let before = plan.samples.count
          try plan.measure(inputs, beside: beside, clock: clock, cancellation)
          if plan.samples.count > before { watch.note(plan) }
        } catch { break }
      }
    }
    watch.flush()
  }

  private func drop(_ plans: inout [PlanMeasurement], _ remarks: inout [String]) {
    for plan in plans {
      if let failure = plan.failure { remarks.append("a plan of several devices could not be run: \(failure)") }
    }
    plans.removeAll { $0.failure != nil || $0.samples.isEmpty }
  }

  private func isCertain(_ run: DeviceMeasurement) -> Bool {
    run.failure != nil
      || isCertain(run.counted(atLeast: options.fewestRounds).indices.map { run.pairs[$0].plain })
  }

  private func isCertain(_ seconds: [Double]) -> Bool {
    (try? LatencyStatistics(seconds)).map { $0.relativeUncertainty <= options.bound } ?? false
  }

  /// The best plan over all measured devices, of those that are equal within noise the one that planning will settle on;
  /// nil where it is one device's.
  private func bestPlan(_ measured: Measured) throws -> PlanSolution? {
    let ids = measured.usable.map(\.device.info.id)
    guard ids.count > 1 else { return nil }
    var all = request
    all.goal = .latency
    all.units = .devices(ids)
    all.isStrict = false
    all.pins = [:]
    let (profile, noise) = profileWithNoise(measured)
    let problem = try context.with(costs: CostSheet(profile)).planner.problem(context.graph, all)
    let explanation = try problem.explain()
    func isSingle(_ plan: PlanSolution) -> Bool {
      measured.usable.contains { $0.placement == plan.placement }
        || context.nodesByDevice(plan.placement).count < 2
    }
    let settled = explanation.settled(problem, noise: noise, kept: nil).solution
    // A mix that is better by less than the noise is worth a look as well: only running tells.
    return [settled, explanation.solution].first { !isSingle($0) }
  }

  /// Plans that were run beside each other, their predictions from what is known in the end.
  func checks(_ measured: Measured, _ costs: CostSheet) -> [ProfileResult.Check] {
    var checks: [ProfileResult.Check] = []
    func add(_ label: String, _ placement: [String: String], _ seconds: [Double], _ isUndisturbed: Bool) {
      guard let statistics = try? LatencyStatistics(seconds), let predicted = predict(placement, costs) else { return }
      checks.append(
        ProfileResult.Check(
          label: label, nodesByDevice: context.nodesByDevice(placement), predicted: predicted,
          measured: statistics.median, interval: statistics.medianInterval, samples: statistics.count,
          isUndisturbed: isUndisturbed))
    }
    for run in measured.runs where !run.pairs.isEmpty {
      let (indices, quiet) = run.counted(atLeast: options.fewestRounds)
      // The pairs that did not tell what timers and handing out nodes take.
      let tested = indices.filter { !$0.isMultiple(of: 2) }
      add(run.device.info.id, run.placement, (tested.isEmpty ? indices : tested).map { run.pairs[$0].plain }, quiet)
    }
    // A plan was run in a part of the rounds: at the pace of all of them, as the costs are.
    let alone = Dictionary(
      measured.usable.compactMap { run in
        run.plainMedian(in: run.counted(atLeast: options.fewestRounds).indices).map { (run.device.info.id, $0) }
      }
    ) { first, _ in first }
    for plan in measured.tried {
      let (seconds, quiet) = plan.seconds(atLeast: options.fewestRounds, usual: alone)
      add("best plan", plan.solution.placement, seconds, quiet)
    }
    return checks
  }

  /// What was found by running the devices alone and, where there was a better plan by prediction, that beside them;
  /// nil before anything ran.
  func trials(_ measured: Measured, _ costs: CostSheet) -> TriedPlans? {
    let mix = measured.tried.first
    let rounds = mix?.counted(atLeast: options.fewestRounds).samples
    var entries: [(label: String, placement: [String: String], predicted: Double, isSingleDevice: Bool)] = []
    var seconds: [[Double]] = []
    for run in measured.usable {
      let own = run.counted(atLeast: options.fewestRounds).indices.map { run.pairs[$0].plain }
      let beside = rounds?.compactMap { $0.beside[run.device.info.id] } ?? own
      guard let predicted = predict(run.placement, costs), rounds.map({ $0.count == beside.count }) ?? true else {
        continue
      }
      entries.append(("only \(run.device.info.id)", run.placement, predicted, true))
      seconds.append(beside)
    }
    if let mix, let rounds, let predicted = predict(mix.solution.placement, costs) {
      entries.append(("best", mix.solution.placement, predicted, false))
      seconds.append(rounds.map(\.seconds))
    }
    return try? TriedPlans(
      graph: context.graphKey.description, precision: request.precision.rawValue, threads: request.threads,
      entries: entries, seconds: seconds)
  }

  /// Seconds that the costs say a placement takes.
  func predict(_ placement: [String: String], _ costs: CostSheet) -> Double? {
    solution(of: placement, costs)?.predicted
  }

  /// A placement with its best copies.
  func solution(of placement: [String: String], _ costs: CostSheet) -> PlanSolution? {
    var pinned = request
    pinned.goal = .latency
    pinned.units = .devices(Set(placement.values).sorted())
    pinned.isStrict = false
    pinned.pins = placement
    pinned.exclusions = []
    return try? context.with(costs: costs).planner.problem(context.graph, pinned).solve()
  }
}
