extension PlanSolution {
  /// Makes the best single plan answer all frames, for the goals `throughput` and `sustained`.
  package mutating func dropMixture() {
    guard let seconds = mixture?.singlePlanSeconds else { return mixture = nil }
    if framesPerSecond != nil {
      (objective, framesPerSecond) = (seconds, seconds > 0 ? 1 / seconds : nil)
      (bottleneck, limitedBy, joules, remark) = (nil, nil, nil, nil)
      self = bounded(by: lowerBound)
    }
    mixture = nil
  }

  /// Makes frames alternate between given plans of one graph, which need not be the best.
  ///
  /// For the goals `throughput` and `sustained`, the objective and the rate become those of the mixture.
  ///
  /// - Parameter plans: each plan's share of the frames, its solution, and the problem that it solves.
  package mutating func alternate(
    between plans: [(share: Double, solution: PlanSolution, problem: PlanningProblem)], goal: Goal,
    singlePlanSeconds: Double?
  ) {
    let isPipelined = goal == .throughput || goal == .sustained
    mixture = PlanMixture(
      plans: plans.map { .init(share: $0.share, placement: $0.solution.placement, transfers: $0.solution.transfers) },
      singlePlanSeconds: isPipelined ? objective : singlePlanSeconds)
    guard isPipelined else { return }
    var loads: [String: Double] = [:]
    for plan in plans {
      for (name, seconds) in plan.problem.loads(of: plan.solution) { loads[name, default: 0] += plan.share * seconds }
    }
    joules = plans.reduce(0) { sum, plan in
      guard let sum, let joules = plan.solution.joules else { return nil }
      return sum + plan.share * joules
    }
    if goal == .sustained, let joules, let power = plans.first?.problem.power {
      loads[Loads.power] = joules / (power.sustainableWatts - power.idleWatts)
    }
    func most(_ loads: [String: Double]) -> (name: String, seconds: Double)? {
      loads.max { ($0.value, $1.key) < ($1.value, $0.key) }.map { ($0.key, $0.value) }
    }
    guard let (limit, seconds) = most(loads) else { return }
    (objective, lowerBound, limitedBy) = (seconds, seconds, limit)
    framesPerSecond = seconds > 0 ? 1 / seconds : nil
    loads[Loads.power] = nil
    bottleneck = most(loads).map { Bottleneck(resource: $0.name, seconds: $0.seconds) }
  }
}

extension PlanningProblem {
  /// Returns the seconds for which a frame of a solution occupies each resource, as `Loads` defines them.
  fileprivate func loads(of solution: PlanSolution) -> [String: Double] {
    func resource(_ device: String) -> String { self.resource[device] ?? device }
    var loads: [String: Double] = [:]
    for node in nodes {
      guard let device = solution.placement[node.id], let seconds = node.seconds[device] else { continue }
      loads[resource(device), default: 0] += seconds
    }
    for transfer in solution.transfers {
      for name in Set([resource(transfer.from), resource(transfer.to)]) { loads[name, default: 0] += transfer.seconds }
    }
    return loads
  }
}
