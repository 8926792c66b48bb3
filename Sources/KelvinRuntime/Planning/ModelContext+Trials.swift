import KelvinDevices
import KelvinGraph
package import KelvinMeasurements
package import KelvinPlanning

/// What running plans has shown, and what may be run because of it.
extension ModelContext {
  /// What was tried of this graph on the devices of a request; nil where nothing was.
  package func trial(_ request: PlanRequest) -> TriedPlans? {
    guard let profile = costs.profile, let (units, helpers) = try? planner.devices(for: request) else { return nil }
    return profile.trial(
      graph: graphKey.description, precision: request.precision.rawValue, threads: request.threads,
      among: Set((units + helpers).map(\.info.id)))
  }

  /// A problem's best plan with its reasons, settled among those that this model's costs do not tell apart; where that
  /// plan was tried here, the one that the trial adopted.
  func settled(_ problem: PlanningProblem, _ request: PlanRequest) throws -> PlanExplanation {
    let tried = trial(request)
    let chosen = tried.map { $0.entries[$0.chosen] }
    let explanation = try problem.explain().settled(
      problem, noise: costs.predictionNoise(model: key.description), kept: chosen?.placement)
    guard problem.goal == .latency, let tried, let chosen, tried.entry(explanation.solution.placement) != nil,
      let solution = problem.solution(placing: chosen.placement, lowerBound: explanation.solution.lowerBound)
    else { return explanation }
    return explanation.adopting(solution, reason: "measured: \(tried.reason)")
  }
}

extension CostSheet {
  /// The share by which predictions of plans that mix devices are off, as the median of the model's profile has it,
  /// else that of the others in it; 0 where nobody compared.
  func predictionNoise(model: String) -> Double {
    guard let profile else { return 0 }
    if let own = profile.accuracy[model]?.mixed { return own.median }
    let others = profile.accuracy.values.compactMap { $0.mixed?.median }.sorted()
    return others.isEmpty ? 0 : others[(others.count - 1) / 2]
  }
}

extension PlanExplanation {
  /// The plan that may be run without having been tried: this one where one device runs all that it can, or where it
  /// was measured to be faster than any device alone; else the best single device's.
  ///
  /// - Parameter goal: of the plan; a trial runs one inference at a time, which decides `latency` alone.
  /// - Returns: with why it is another, in words; nil where it is this one.
  package func proven(
    by trial: TriedPlans?, goal: Goal
  ) -> (explanation: PlanExplanation, remark: String?) {
    guard let single = bestSingleDevice, !singleDevices.contains(where: { $0.solution.placement == solution.placement })
    else { return (self, nil) }
    let mix = "the plan over \(Set(solution.placement.values).sorted().joined(separator: " and "))"
    guard goal == .latency, let trial, trial.entry(solution.placement) != nil else {
      return (
        adopting(single.solution, reason: "\(mix) was not tried here"),
        "\(mix) that is predicted to be best was not tried here, so \(single.device) alone runs the model; "
          + (goal == .latency
            ? "'kelvin plan --trial' tries it"
            : "'kelvin bench' compares the two for this goal, and --plan takes the plan that it saves")
      )
    }
    if trial.entries[trial.chosen].placement == solution.placement { return (self, nil) }
    return (
      adopting(single.solution, reason: "measured: \(trial.reason)"),
      "\(mix) was tried here and not adopted: \(trial.reason)"
    )
  }
}
