import KelvinDevices
import KelvinGraph
package import KelvinMeasurements
package import KelvinPlanning

/// Results of trials of plans, and the plans that may run because of them.
extension ModelContext {
  /// Returns the trial of this graph on the devices of a request; nil if there was none.
  package func trial(_ request: PlanRequest) -> TriedPlans? {
    guard let profile = costs.profile, let (units, helpers) = try? planner.devices(for: request) else { return nil }
    return profile.trial(
      graph: graphKey.description, precision: request.precision.rawValue, threads: request.threads,
      among: Set((units + helpers).map(\.info.id)))
  }

  /// Returns a problem's best plan with its reasons, chosen among plans whose costs do not differ significantly. If
  /// that plan was tried here, the plan that the trial adopted is used.
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
  /// Returns the relative error of predictions of plans that mix devices: the median in the model's profile, else the
  /// median over the other models; 0 if unknown.
  func predictionNoise(model: String) -> Double {
    guard let profile else { return 0 }
    if let own = profile.accuracy[model]?.mixed { return own.median }
    let others = profile.accuracy.values.compactMap { $0.mixed?.median }.sorted()
    return others.isEmpty ? 0 : others[(others.count - 1) / 2]
  }
}

extension PlanExplanation {
  /// Returns the plan that may run without a trial. It is this plan if one device runs everything it can, or if the
  /// trial adopted this plan. Otherwise it is the plan of the best single device.
  ///
  /// - Parameter goal: the goal of the plan; a trial measures one inference at a time, which only decides `latency`.
  /// - Returns: the plan, and a remark that says why it is another plan; nil if it is this one.
  package func proven(
    by trial: TriedPlans?, goal: Goal
  ) -> (explanation: PlanExplanation, remark: String?) {
    guard let single = bestSingleDevice, !singleDevices.contains(where: { $0.solution.placement == solution.placement })
    else { return (self, nil) }
    let mix = "the plan over \(Set(solution.placement.values).sorted().joined(separator: " and "))"
    guard goal == .latency, let trial, trial.entry(solution.placement) != nil else {
      let untried = goal == .latency ? "was not tried here" : "was not tried for the goal \(goal.rawValue)"
      return (
        adopting(single.solution, reason: "\(mix) \(untried)"),
        "\(mix), predicted to be best, \(untried), so \(single.device) alone runs the model; "
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
