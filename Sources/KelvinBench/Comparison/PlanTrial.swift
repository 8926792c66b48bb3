import KelvinBasics
import KelvinDevices
package import KelvinGraph
package import KelvinMeasurements
package import KelvinPlanning
package import KelvinRuntime
import KelvinThermal

/// Runs the best predicted plans and each device alone, in turns, before one of them is adopted.
///
/// Predicted times may be wrong. A plan that mixes devices is adopted only when its measured time is less than that of
/// the best single device.
package struct PlanTrial: Sendable {
  /// The measurements, for people and for the user's store.
  package var record: TriedPlans
  /// The plan of each entry of the record.
  private let solutions: [PlanSolution]

  private static let leastRounds = 7
  package static let usualBudget = 3.0

  /// The plan to adopt.
  package var solution: PlanSolution { solutions[record.chosen] }

  /// - Parameters:
  ///   - limit: the number of ranked plans to run, besides the single devices.
  ///   - budget: seconds for the runs, doubled when others disturb them. Each plan is run at least seven times, and
  ///     disturbed rounds count only when fewer undisturbed ones remain.
  ///   - companions: processes whose processor time is not a disturbance.
  /// - Returns: nil when only one placement is possible.
  package static func run(
    _ context: ModelContext, _ explanation: PlanExplanation, _ request: PlanRequest, inputs: [Tensor], limit: Int = 3,
    budget: Double = usualBudget, clock: any MeasurementClock = SystemClock(),
    files: SystemFiles = SystemFiles(), companions: [Int32] = [], observe: MeasurementObserver = { _ in }
  ) throws -> PlanTrial? {
    var candidates: [(label: String, solution: PlanSolution)] = []
    func add(_ label: String, _ solution: PlanSolution) {
      guard !candidates.contains(where: { $0.solution.placement == solution.placement }) else { return }
      candidates.append((label, solution))
    }
    let singles = explanation.singleDevices.map(\.solution)
    for plan in explanation.ranked.prefix(limit) {
      let single = explanation.singleDevices.first { $0.solution.placement == plan.solution.placement }
      add(single.map { "only \($0.device)" } ?? plan.label, plan.solution)
    }
    for single in explanation.singleDevices where single.device != context.inventory.reference?.info.id {
      add("only \(single.device)", single.solution)
    }
    guard candidates.count > 1 else { return nil }

    var sessions: [Session] = []
    for (index, candidate) in candidates.enumerated() {
      observe(.init(phase: "trying '\(candidate.label)'", fraction: Double(index) / Double(candidates.count)))
      let model = try context.compile(candidate.solution, precision: request.precision, threads: request.threads)
      let session = try model.makeSession()
      _ = try session.run(inputs)
      sessions.append(session)
    }
    var seconds = [[Double]](repeating: [], count: candidates.count)
    var disturbed = seconds
    var fresh = seconds
    var watch = ContentionWatch(files: files, at: clock.now(), companions: companions)
    func settle(_ isDisturbed: Bool) {
      for index in fresh.indices {
        if isDisturbed { disturbed[index] += fresh[index] } else { seconds[index] += fresh[index] }
        fresh[index].removeAll()
      }
    }
    let deadline = clock.now() + budget
    let latest = deadline + budget
    for round in 0..<400 {
      let now = clock.now()
      if let interval = watch.interval(at: now) { settle(interval.isDisturbed) }
      if now >= deadline, seconds[0].count >= leastRounds || now >= latest, round >= leastRounds { break }
      for index in PairedComparison.turns(sessions.indices, round: round) {
        // The first run after a change of plan finds cold caches and parked workers, so only the second one counts.
        try sessions[index].run()
        fresh[index].append(try clock.time { try sessions[index].run() })
      }
    }
    let hasDisturbedRounds = seconds[0].count < leastRounds && !disturbed[0].isEmpty
    settle(seconds[0].count >= leastRounds)
    if seconds[0].count < leastRounds {
      for index in seconds.indices { seconds[index] += disturbed[index] }
    }
    let record = try TriedPlans(
      graph: context.graphKey.description, precision: request.precision.rawValue, threads: request.threads,
      entries: candidates.map { label, solution in
        (
          label, solution.placement, solution.predicted,
          isSingleDevice: singles.contains { $0.placement == solution.placement }
        )
      }, seconds: seconds, isDisturbed: hasDisturbedRounds)
    return PlanTrial(record: record, solutions: candidates.map(\.solution))
  }
}
