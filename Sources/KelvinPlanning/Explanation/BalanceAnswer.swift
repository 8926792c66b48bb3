/// The answer for a pipelined goal: the placements with the least largest load, and the load with each node elsewhere.
struct BalanceAnswer {
  private let problem: PlanningProblem
  private let loads: Loads
  private let budget: Int
  private var index: ProblemIndex { problem.index }
  /// The largest number of nodes times devices for which every regret is searched again.
  private static let mostSearchedAgain = 96
  private static let mostDescended = 1_024

  init(_ problem: PlanningProblem, _ loads: Loads, budget: Int) {
    self.problem = problem
    self.loads = loads
    self.budget = budget
  }

  func solve() throws(PlanningError) -> (solution: PlanSolution, found: BalanceSearch.Found) {
    let found = try BalanceSearch(loads, budget: budget).run()
    var solution = solution(
      found.plan, in: found.mixture, found.isExact ? .exact : .approximate, found.lowerBound)
    solution.searchStates = found.states
    return (solution, found)
  }

  /// - Parameter mixture: the plans that are better than `plan`, which then sets the rate.
  private func solution(
    _ plan: BalancedPlan, in mixture: BalancedMixture? = nil, _ method: PlanSolution.Method, _ lowerBound: Double
  ) -> PlanSolution {
    let seconds = mixture?.loads ?? plan.loads
    let peak = mixture?.peak ?? plan.peak
    var solution = plan.evaluation.solution(
      index, plan.placement, method: method, lowerBound: lowerBound, objective: peak)
    if peak > 0 { solution.framesPerSecond = 1 / peak }
    solution.limitedBy = seconds.indices.max { seconds[$0] < seconds[$1] }.map(loads.name)
    guard let mixture else { return solution }
    let parts = mixture.parts.map { part in
      let alone = part.plan.evaluation.solution(index, part.plan.placement, method: method, lowerBound: lowerBound)
      return (share: part.share, alone: alone)
    }
    solution.mixture = PlanMixture(
      plans: parts.map { .init(share: $0.share, placement: $0.alone.placement, transfers: $0.alone.transfers) },
      singlePlanSeconds: plan.peak)
    solution.joules = parts.reduce(0) { sum, part in
      guard let sum, let joules = part.alone.joules else { return nil }
      return sum + part.share * joules
    }
    if let most = index.resourceNames.indices.max(by: { seconds[$0] < seconds[$1] }) {
      solution.bottleneck = Bottleneck(resource: index.resourceNames[most], seconds: seconds[most])
    }
    return solution
  }

  func explain(limit: Int) throws(PlanningError) -> GoalAnswer {
    let (best, found) = try solve()
    let scalar = LatencySearch(loads.weighted(by: found.weights), budget: budget / 4)
    var alone: [BalancedPlan] = []
    let singles = scalar.singles { placement, evaluation in
      let plan = BalancedPlan(loads, placement, evaluation.repriced(index, placement))
      alone.append(plan)
      return solution(plan, .approximate, found.lowerBound)
    }
    let again = index.nodeCount * index.deviceCount <= Self.mostSearchedAgain && best.method == .exact
    let answer = again ? searched(found) : descended(found)
    let near = answer.plans.sorted { $0.plan.peak < $1.plan.peak }.prefix(4 * max(0, limit)).map { entry in
      RankedPlan(
        label: "\(index.nodeNames[entry.node]) on \(index.deviceNames[entry.device])",
        solution: solution(entry.plan, .approximate, found.lowerBound))
    }
    return GoalAnswer(
      placement: found.plan.placement, solution: best, totals: answer.totals, hasExactTotals: answer.isExact,
      here: index.seconds, singles: singles, near: near, replicas: replicas(alone, found.lowerBound))
  }

  /// Returns the best mixture of single-device plans; nil if it gains less than `BalanceSearch.leastGain` over the best
  /// of them, or does not fit the devices' memory.
  private func replicas(_ alone: [BalancedPlan], _ lowerBound: Double) -> PlanSolution? {
    guard let best = alone.min(by: { $0.peak < $1.peak }), let mixture = BalancedMixture(of: alone),
      mixture.peak < (1 - BalanceSearch.leastGain) * best.peak,
      MemoryLimits(index, Frontier(index)).fitTogether(mixture.parts.map(\.plan.placement))
    else { return nil }
    return solution(best, in: mixture, .approximate, lowerBound)
  }

  private struct Elsewhere {
    var totals: [Double]
    var isExact: Bool
    var plans: [(node: Int, device: Int, plan: BalancedPlan)] = []
  }

  /// Searches again with every node pinned to every other device.
  private func searched(_ found: BalanceSearch.Found) -> Elsewhere {
    let count = index.deviceCount
    var elsewhere = Elsewhere(totals: index.seconds.map { _ in .infinity }, isExact: true)
    for node in 0..<index.nodeCount {
      for device in 0..<count where device != found.plan.placement[node] && index.seconds(node, on: device).isFinite {
        var pinned = index
        for other in 0..<count where other != device { pinned.seconds[node * count + other] = .infinity }
        guard let moved = try? BalanceSearch(loads.over(pinned), budget: budget / Self.mostSearchedAgain).run() else {
          continue
        }
        elsewhere.totals[node * count + device] = moved.peak
        elsewhere.isExact = elsewhere.isExact && moved.isExact
        elsewhere.plans.append((node, device, moved.plan))
      }
    }
    return elsewhere
  }

  /// Moves every node to every other device. The other nodes descend from their devices, or, in a large graph, stay
  /// there.
  private func descended(_ found: BalanceSearch.Found) -> Elsewhere {
    let count = index.deviceCount
    var elsewhere = Elsewhere(totals: index.seconds.map { _ in .infinity }, isExact: false)
    let descent = BalanceDescent(loads, weights: found.weights)
    let memory = MemoryLimits(index, Frontier(index))
    let rounds = index.seconds.count <= Self.mostDescended ? 2 : 0
    for node in 0..<index.nodeCount {
      for device in 0..<count where device != found.plan.placement[node] && index.seconds(node, on: device).isFinite {
        var start = found.plan.placement
        start[node] = device
        guard rounds > 0 else { continue }
        guard let plan = descent.improve(start, fixed: node, rounds: rounds),
          memory.firstExcess(plan.placement, plan.evaluation) == nil
        else { continue }
        elsewhere.totals[node * count + device] = plan.peak
        elsewhere.plans.append((node, device, plan))
      }
    }
    if rounds == 0 { elsewhere.totals = descent.peaks(around: found.plan) }
    return elsewhere
  }
}
