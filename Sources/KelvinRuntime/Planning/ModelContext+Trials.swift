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
  /// trial adopted this plan. Otherwise it is the plan of the best single device. A mixture may run if each of its plans
  /// is that of a single device, since only a mix of devices within one inference needs a trial.
  ///
  /// - Parameter goal: the goal of the plan; a trial measures one inference at a time, which only decides `latency`.
  /// - Returns: the plan, and a remark that says why it is another plan; nil if it is this one.
  package func proven(
    by trial: TriedPlans?, goal: Goal
  ) -> (explanation: PlanExplanation, remark: String?) {
    let singles = Set(singleDevices.map(\.solution.placement))
    let placements = solution.mixture?.plans.map(\.placement) ?? [solution.placement]
    guard let single = bestSingleDevice else { return (self, nil) }
    if placements.allSatisfy(singles.contains) {
      guard !singles.contains(solution.placement), let replicas else { return (self, nil) }
      // The same mixture, whose single plan is that of one device too.
      return (adopting(replicas, reason: "the single plan over several devices was not tried"), nil)
    }
    let devices = Set(placements.flatMap(\.values)).sorted().joined(separator: " and ")
    let mix = solution.mixture == nil ? "the plan over \(devices)" : "the \(placements.count) plans over \(devices)"
    guard goal == .latency, let trial, trial.entry(solution.placement) != nil else {
      let verb = solution.mixture == nil ? "was" : "were"
      let untried = goal == .latency ? "was not tried here" : "\(verb) not tried for the goal \(goal.rawValue)"
      let chosen = replicas ?? single.solution
      return (
        adopting(chosen, reason: "\(mix) \(untried)"),
        "\(mix), predicted to be best, \(untried), so "
          + (chosen.mixture.map { "devices run whole predictions: \($0.text); " }
            ?? "\(single.device) alone runs the model; ")
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
