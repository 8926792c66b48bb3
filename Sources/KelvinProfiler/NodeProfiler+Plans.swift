import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime

/// Measurements of whole plans: plans from which hand-over costs are fitted, and the best plan by these costs.
extension NodeProfiler {
  /// Runs plans that alternate between the devices.
  func measureMixes(_ measured: inout Measured, _ watch: DisturbanceWatch, _ progress: ProfileProgress) {
    progress.begin(.mixes)
    let runs = measured.usable
    guard runs.count > 1, !isCancelled else { return }
    let runnable = runs.map { (id: $0.device.info.id, nodes: $0.nodesHere) }
    var design = MixedDesign(context.with(costs: CostSheet(profile(measured))), request, runnable: runnable)
    let wanted = MixedDesign.count(devices: runs.count)
    let budget = checkBudget(runs)
    guard allows(runs, mixes: wanted, budget) else {
      measured.remarks.append("plans of several devices were not measured, because they take longer than the budget")
      return
    }
    let start = clock.now()
    // The sessions share memory, which would otherwise grow with the number of plans.
    let memory = ExecutionContext()
    var mixes: [PlanMeasurement] = []
    while mixes.count < wanted, !isCancelled, let solution = design.next() {
      // When compilation takes long, half of the plans are enough.
      if clock.now() - start > 2 * budget, 2 * mixes.count >= wanted { break }
      progress.report("alternating between devices: compiling", 0)
      do { mixes.append(try PlanMeasurement(solution, context, request, inputs: inputs, memory: memory)) } catch {
        measured.remarks.append("a plan of several devices could not be run: \(error)")
        break
      }
    }
    measured.mixes = mixes
    guard !mixes.isEmpty else { return }
    runRounds(runs, mixes, budget: budget, watch) { round, share in
      progress.report("alternating between devices, round \(round + 1)", share, left: budget * (1 - share))
    }
    drop(&measured.mixes, &measured.remarks)
  }

  /// The rounds that a comparison of two plans needs, and two more in case of disturbances.
  private static let roundsOfTrial = PairedComparison.fewestPairs + 2

  /// Runs the best plan by the costs so far, if it uses several devices, in turns with each device alone.
  func tryBestPlan(_ measured: inout Measured, _ watch: DisturbanceWatch, _ progress: ProfileProgress) throws {
    progress.begin(.plans)
    guard !isCancelled else { return }
    progress.report("planning with what was measured", 0)
    let runs = measured.usable
    guard allows(runs, mixes: 1, checkBudget(runs)) else { return }
    if let best = try bestPlan(measured) {
      do {
        measured.tried = [try PlanMeasurement(best, context, request, inputs: inputs, memory: ExecutionContext())]
      } catch {
        measured.remarks.append("the best plan could not be run: \(error)")
      }
    }
    runRounds(runs, measured.tried, atLeast: Self.roundsOfTrial, budget: checkBudget(runs), watch) {
      round, share in
      progress.report("running the plans, round \(round + 1)", share, left: checkBudget(runs) * (1 - share))
    }
    drop(&measured.tried, &measured.remarks)
  }

  /// Whether a round of all devices and of this many plans is possible within the budget of checks.
  private func allows(_ runs: [DeviceMeasurement], mixes: Int, _ budget: Double) -> Bool {
    let longest = runs.map(\.inference).max() ?? 0
    return runs.reduce(0) { $0 + $1.pairSeconds } + Double(mixes) * longest <= limit(budget)
  }

  /// The seconds after which rounds end, however few there were.
  private func limit(_ budget: Double) -> Double { max(2 * budget, ProfilerOptions.leastBudget) }

  func checkBudget(_ runs: [DeviceMeasurement]) -> Double {
    options.budget * options.checkShare * Double(runs.count)
  }

  /// Runs each device alone and each plan, in turns, until all medians are certain enough or the budget is used.
  private func runRounds(
    _ runs: [DeviceMeasurement], _ plans: [PlanMeasurement], atLeast enough: Int = 0, budget: Double,
    _ watch: DisturbanceWatch,
    _ observe: (_ round: Int, _ share: Double) -> Void
  ) {
    let start = clock.now()
    for round in 0..<options.mostRounds where !isCancelled {
      let elapsed = clock.now() - start
      if elapsed >= limit(budget) { break }
      if round >= max(options.fewestRounds, enough) {
        let areCertain =
          round.isMultiple(of: 5) && runs.allSatisfy { isCertain($0) }
          && plans.allSatisfy { $0.failure != nil || isCertain($0.samples.map(\.seconds)) }
        if elapsed >= budget || areCertain { break }
      }
      observe(round, min(1, elapsed / budget))
      // A plan is compared with the devices, so all take their turns in one order.
      for turn in PairedComparison.turns(0..<runs.count + plans.count, round: round) {
        guard turn >= runs.count else {
          self.turn(runs[turn], watch)
          continue
        }
        let plan = plans[turn - runs.count]
        do throws(RuntimeError) {
          let before = plan.sampleCount
          try plan.measure(inputs, clock: clock, cancellation)
          if plan.sampleCount > before { watch.note(plan) }
        } catch { break }
      }
      let able = runs.filter { $0.failure == nil }
      let beside = Dictionary(able.compactMap { run in run.pairs.last.map { (run.device.info.id, $0.plain) } }) { $1 }
      for plan in plans { plan.endRound(beside: beside) }
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

  /// Returns the best plan over all measured devices. Among plans that are equal within noise, it is the one that
  /// planning will choose. Nil when that plan uses one device.
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
    // A mixed plan that is better by less than the noise is run as well, because only its measured time decides.
    return [settled, explanation.solution].first { !isSingle($0) }
  }

  /// Returns the checks of plans that were run in turns, with predictions from the final costs.
  func checks(_ measured: Measured, _ costs: CostSheet) -> [PlanCheck] {
    var checks: [PlanCheck] = []
    func add(
      _ label: String, _ placement: [String: String],
      _ latency: (statistics: LatencyStatistics, isUndisturbed: Bool)?
    ) {
      guard let (statistics, isUndisturbed) = latency, let predicted = predict(placement, costs) else { return }
      checks.append(
        PlanCheck(
          label: label, nodesByDevice: context.nodesByDevice(placement), predicted: predicted,
          measured: statistics.median, interval: statistics.medianInterval, samples: statistics.count,
          isUndisturbed: isUndisturbed))
    }
    for run in measured.runs { add(run.device.info.id, run.placement, run.latency(atLeast: options.fewestRounds)) }
    for plan in measured.tried { add("best plan", plan.solution.placement, latency(of: plan, measured)) }
    return checks
  }

  /// Returns the end-to-end seconds of a plan of several devices. It ran in some of the rounds only, so its times are
  /// scaled to the average of all rounds, as the costs are.
  private func latency(
    of plan: PlanMeasurement, _ measured: Measured
  ) -> (statistics: LatencyStatistics, isUndisturbed: Bool)? {
    let alone = Dictionary(
      measured.usable.compactMap { run in
        run.latency(atLeast: options.fewestRounds).map { (run.device.info.id, $0.statistics.median) }
      }
    ) { first, _ in first }
    let (seconds, isUndisturbed) = plan.seconds(atLeast: options.fewestRounds, usual: alone)
    return (try? LatencyStatistics(seconds)).map { ($0, isUndisturbed) }
  }

  /// Returns the comparison of the devices alone with the predicted best plan, if there was one; nil when nothing has
  /// run.
  func trials(_ measured: Measured, _ costs: CostSheet) -> TriedPlans? {
    let mix = measured.tried.first
    let rounds = mix?.counted(atLeast: options.fewestRounds).samples
    var entries: [(label: String, placement: [String: String], predicted: Double, isSingleDevice: Bool)] = []
    var (seconds, latencies): ([[Double]], [LatencyStatistics]) = ([], [])
    var isDisturbed = false
    for run in measured.usable {
      let own = run.counted(atLeast: options.fewestRounds).indices.map { run.pairs[$0].plain }
      let beside = rounds?.compactMap { $0.beside[run.device.info.id] } ?? own
      guard let predicted = predict(run.placement, costs), rounds.map({ $0.count == beside.count }) ?? true,
        let latency = run.latency(atLeast: options.fewestRounds)
      else { continue }
      latencies.append(latency.statistics)
      isDisturbed = isDisturbed || !latency.isUndisturbed
      entries.append(("only \(run.device.info.id)", run.placement, predicted, true))
      seconds.append(beside)
    }
    if let mix, let rounds, let predicted = predict(mix.solution.placement, costs),
      let latency = latency(of: mix, measured)
    {
      latencies.append(latency.statistics)
      isDisturbed = isDisturbed || !latency.isUndisturbed
      entries.append(("best", mix.solution.placement, predicted, false))
      seconds.append(rounds.map(\.seconds))
    }
    return try? TriedPlans(
      graph: context.graphKey.description, precision: request.precision.rawValue, threads: request.threads,
      entries: entries, seconds: seconds, latencies: latencies, isDisturbed: isDisturbed)
  }

  /// Returns the predicted seconds of a placement.
  func predict(_ placement: [String: String], _ costs: CostSheet) -> Double? {
    solution(of: placement, costs)?.predicted
  }

  /// Returns a placement with its best transfers.
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
