import KelvinDevices
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime

extension NodeProfiler {
  /// A plan of several devices, to be run without timers beside the devices alone.
  private struct Contestant {
    var solution: PlanSolution
    var session: Session
    var seconds: [Double] = []
  }

  /// Predicts each device alone and the best plan of all from the rounds so far, runs them in turns with more rounds,
  /// and compares: medians of the same stretch of time on both sides.
  func check(_ measured: inout Measured, _ watch: DisturbanceWatch, _ observe: MeasurementObserver) throws {
    guard !isCancelled else { return appendChecks(&measured, mixed: nil) }
    observe(.init(phase: "planning with what was measured", fraction: 0.75))
    let mixed = try bestPlan(measured)
    let runs = measured.usable

    var contestant: Contestant?
    if let mixed {
      do {
        let model = try context.compile(mixed, precision: request.precision, threads: request.threads)
        let session = try model.makeSession()
        _ = try session.run(inputs)
        contestant = Contestant(solution: mixed, session: session)
      } catch RuntimeError.cancelled {
        return appendChecks(&measured, mixed: nil)
      } catch { measured.remarks.append("the best plan could not be run: \(error)") }
    }
    let budget = options.budget * options.checkShare * Double(runs.count)
    let start = clock.now()
    for round in 0..<options.mostRounds where !isCancelled {
      let elapsed = clock.now() - start
      if round >= options.fewestRounds {
        let areCertain =
          round.isMultiple(of: 5) && runs.allSatisfy { isCertain($0) }
          && (contestant.map { isCertain($0.seconds) } ?? true)
        if elapsed >= budget || areCertain { break }
      }
      observe(.init(phase: "running the plans, round \(round + 1)", fraction: 0.77 + 0.11 * min(1, elapsed / budget)))
      for run in round.isMultiple(of: 2) ? runs : runs.reversed() { turn(run, watch) }
      guard contestant != nil else { continue }
      do throws(RuntimeError) {
        guard let session = contestant?.session else { continue }
        for isCounted in [false, true] {
          try session.write(inputs)
          let elapsed = try clock.time { () throws(RuntimeError) in try session.run(cancellation) }
          if isCounted { contestant?.seconds.append(elapsed) }
        }
      } catch {
        if case .cancelled = error { break }
        measured.remarks.append("the best plan could not be run: \(error)")
        contestant = nil
      }
    }
    watch.flush()

    appendChecks(&measured, mixed: contestant.map { ($0.solution, $0.seconds) })
  }

  private func isCertain(_ run: DeviceMeasurement) -> Bool {
    run.failure != nil
      || isCertain(run.counted(atLeast: options.fewestRounds).indices.map { run.pairs[$0].plain })
  }

  private func isCertain(_ seconds: [Double]) -> Bool {
    (try? LatencyStatistics(seconds)).map { $0.relativeUncertainty <= options.bound } ?? false
  }

  /// The best plan over all measured devices; nil where one device runs everything.
  private func bestPlan(_ measured: Measured) throws -> PlanSolution? {
    let ids = measured.usable.map(\.device.info.id)
    guard ids.count > 1 else { return nil }
    var all = request
    all.goal = .latency
    all.units = .devices(ids)
    all.isStrict = false
    all.pins = [:]
    let solution = try context.with(costs: CostSheet(profile(measured))).planner.problem(context.graph, all).solve()
    return context.nodesByDevice(solution.placement).count > 1 ? solution : nil
  }

  private func appendChecks(_ measured: inout Measured, mixed: (solution: PlanSolution, seconds: [Double])?) {
    let costs = CostSheet(profile(measured))
    var rows: [(label: String, placement: [String: String], seconds: [Double], isUndisturbed: Bool)] = []
    for run in measured.runs where !run.pairs.isEmpty {
      let (indices, quiet) = run.counted(atLeast: options.fewestRounds)
      // The pairs that did not tell what timers take.
      let tested = indices.filter { !$0.isMultiple(of: 2) }
      rows.append(
        (run.device.info.id, run.placement, (tested.isEmpty ? indices : tested).map { run.pairs[$0].plain }, quiet))
    }
    if let mixed { rows.append(("best plan", mixed.solution.placement, mixed.seconds, true)) }
    for row in rows {
      guard let statistics = try? LatencyStatistics(row.seconds), let predicted = predict(row.placement, costs) else {
        continue
      }
      measured.checks.append(
        ProfileResult.Check(
          label: row.label, nodesByDevice: context.nodesByDevice(row.placement),
          predicted: predicted, measured: statistics.median, interval: statistics.medianInterval,
          samples: statistics.count, isUndisturbed: row.isUndisturbed))
    }
  }

  /// Seconds that the costs say a placement takes.
  func predict(_ placement: [String: String], _ costs: CostSheet) -> Double? {
    var pinned = request
    pinned.goal = .latency
    pinned.units = .devices(Set(placement.values).sorted())
    pinned.isStrict = false
    pinned.pins = placement
    pinned.exclusions = []
    return try? context.with(costs: costs).planner.problem(context.graph, pinned).solve().predicted
  }
}
