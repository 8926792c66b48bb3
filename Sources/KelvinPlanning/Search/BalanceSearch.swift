/// A placement with its load on every resource.
struct BalancedPlan {
  let placement: [Int]
  let evaluation: Evaluation
  let loads: [Double]
  /// The largest load.
  let peak: Double

  init(_ loads: Loads, _ placement: [Int], _ evaluation: Evaluation) {
    self.placement = placement
    self.evaluation = evaluation
    self.loads = loads.sum(placement, evaluation)
    peak = self.loads.max() ?? 0
  }
}

/// Plans between which the frames of a stream alternate.
struct BalancedMixture {
  /// The plans with their shares of the frames, by falling share; the shares sum to 1.
  let parts: [(plan: BalancedPlan, share: Double)]
  /// The mean load of a frame on every resource.
  let loads: [Double]
  /// The largest mean load.
  let peak: Double
  /// The largest share that is taken for a rounding error.
  private static let leastShare = 1e-6

  /// Creates the mixture of least peak; nil without plans, or if one of them has no load.
  init?(of plans: [BalancedPlan]) {
    guard !plans.isEmpty, plans.allSatisfy({ $0.peak > 0 }) else { return nil }
    var game = MatrixGame(loads: plans[0].loads.count)
    for plan in plans { game.add(plan.loads) }
    let kept = zip(plans, game.solve().shares).filter { $1 > Self.leastShare }.sorted { $0.1 > $1.1 }
    let whole = kept.reduce(0) { $0 + $1.1 }
    parts = kept.map { (plan: $0, share: $1 / whole) }
    var loads = plans[0].loads.map { _ in 0.0 }
    for (plan, share) in parts {
      for load in loads.indices { loads[load] += share * plan.loads[load] }
    }
    self.loads = loads
    peak = loads.max() ?? 0
  }
}

/// Finds the placement with the least largest load, and the mixture of placements that is better.
///
/// 1. For weights that sum to 1, the least weighted load is a serial sum, which `LatencySearch` minimizes. It is a
///    lower bound of the largest load of every placement. A matrix game over the plans so far gives the next weights,
///    until the bound no longer rises. The game's other player finds the best mixture of these plans.
/// 2. The best plans so far descend, one node at a time.
/// 3. If a gap remains and few values are live at once, `LabelSearch` closes it.
/// 4. If a gap still remains, annealing searches for better plans.
///
/// The answer is the mixture if it gains at least `leastGain` over the best single plan. It is exact when it agrees with
/// the bound, which holds for mixtures too, to 1 part in 10⁹.
struct BalanceSearch {
  struct Found {
    /// The best single plan.
    var plan: BalancedPlan
    /// Nil when one plan serves all frames.
    var mixture: BalancedMixture?
    var lowerBound: Double
    var isExact: Bool
    /// The weights that give the best bound.
    var weights: [Double]
    var states: Int

    /// The largest load of the answer.
    var peak: Double { mixture?.peak ?? plan.peak }
  }

  static let tolerance = 1e-9
  /// The least relative gain of a mixture over a single plan. Each further plan takes memory and time to load.
  static let leastGain = 0.01
  private static let rounds = 48
  /// The number of plans that descend.
  private static let descended = 3
  /// The divisor of the budget that gives the moves of one weighted search.
  private static let share = 8

  let loads: Loads
  /// The elementary moves that the search may make.
  let budget: Int
  let frontier: Frontier
  private var index: ProblemIndex { loads.index }

  init(_ loads: Loads, budget: Int) {
    self.loads = loads
    self.budget = budget
    frontier = Frontier(loads.index)
  }

  func run() throws(PlanningError) -> Found {
    var game = MatrixGame(loads: loads.count)
    var weights = Array(repeating: 1 / Double(loads.count), count: loads.count)
    var bound = 0.0
    var guides: [(weights: [Double], bound: Double)] = []
    var plans: [BalancedPlan] = []
    var failure: PlanningError?
    var states = 0
    var work = 0
    var last: LatencySearch.Found?
    for round in 0..<Self.rounds {
      let search = LatencySearch(loads.weighted(by: weights), budget: budget / Self.share, frontier: frontier)
      let found = try search.placement(seconds: search.index.seconds, after: last, isPolished: false)
      last = found
      states += found.states
      let each = found.handed.isEmpty ? index.deviceCount * 8 : 4
      work += found.states * each + SearchBudget.least(index, words: frontier.words)
      bound = max(bound, found.lowerBound)
      guides.append((weights, found.lowerBound))
      if round == 0 { plans += singles(search) }
      let plan = BalancedPlan(loads, found.placement, found.evaluation.repriced(index, found.placement))
      do {
        plans.append(try fit(found, search, plan))
      } catch {
        failure = error
      }
      let peak = plans.lazy.map(\.peak).min() ?? .infinity
      if plan.peak <= 0 || peak - bound <= Self.tolerance * peak { break }
      game.add(plan.loads)
      let next = game.solve()
      if next.value - bound <= Self.tolerance * next.value || round > 2 && work > budget { break }
      weights = next.weights
    }
    guides.sort { $0.bound > $1.bound }
    if let last, let mixture = BalancedMixture(of: plans), bound < (1 - Self.leastGain) * mixture.peak {
      // The bounds of a large graph are loose where each search had little time.
      let search = LatencySearch(loads.weighted(by: guides[0].weights), budget: budget, frontier: frontier)
      let found = try search.placement(seconds: search.index.seconds, after: last, isPolished: false)
      bound = max(bound, found.lowerBound)
      states += found.states
    }
    guard var best = descend(plans, weights: guides[0].weights) else {
      throw failure ?? PlanningError(.infeasible, "problem", "no plan was found within the search limits")
    }
    var isExact = best.peak - bound <= Self.tolerance * best.peak
    if !isExact, frontier.slotCount <= LatencySearch.mostLive {
      let labels = LabelSearch(loads, frontier, guides: guides.prefix(3).map(\.weights), budget: budget / 4)
      let answer = labels.run(below: best.peak)
      states += answer.states
      if let plan = answer.better {
        let fits = MemoryLimits(index, frontier).firstExcess(plan.placement, plan.evaluation) == nil
        if fits { best = plan }
        isExact = answer.isComplete && fits
      } else {
        isExact = answer.isComplete
      }
      best = descend([best], weights: guides[0].weights) ?? best
      isExact = isExact || best.peak - bound <= Self.tolerance * best.peak
    }
    if !isExact {
      let annealed = annealed(best, weights: guides[0].weights)
      best = annealed.plan
      states += annealed.steps
    }
    var mixture = BalancedMixture(of: plans + [best])
    if let found = mixture {
      let gains = found.peak < (1 - Self.leastGain) * best.peak
      let fits = MemoryLimits(index, frontier).fitTogether(found.parts.map(\.plan.placement))
      if !gains || !fits { mixture = nil }
    }
    let peak = mixture?.peak ?? best.peak
    isExact = peak - bound <= Self.tolerance * peak
    return Found(
      plan: best, mixture: mixture, lowerBound: isExact ? peak : bound, isExact: isExact, weights: guides[0].weights,
      states: states)
  }

  /// Returns `plan` if it is within the memory limits, else the best plan within them at these weights.
  private func fit(_ found: LatencySearch.Found, _ search: LatencySearch, _ plan: BalancedPlan) throws(PlanningError)
    -> BalancedPlan
  {
    let memory = MemoryLimits(search: search)
    guard memory.firstExcess(found.placement, found.evaluation) != nil else { return plan }
    let fitting = try memory.fit(found)
    return BalancedPlan(loads, fitting.placement, fitting.evaluation.repriced(index, fitting.placement))
  }

  /// Returns the plans that keep every node on one device that can run there.
  private func singles(_ search: LatencySearch) -> [BalancedPlan] {
    let memory = MemoryLimits(index, frontier)
    return (0..<index.deviceCount).compactMap { device in
      guard (0..<index.nodeCount).contains(where: { index.seconds($0, on: device).isFinite }),
        let found = try? search.placement(seconds: search.secondsKeeping(device))
      else { return nil }
      let plan = BalancedPlan(loads, found.placement, found.evaluation.repriced(index, found.placement))
      return memory.firstExcess(plan.placement, plan.evaluation) == nil ? plan : nil
    }
  }

  /// The first temperatures of annealing, as multiples of a node's mean seconds. At 1 the start is forgotten, so more
  /// steps are needed.
  private static let heats = [1, 0.3, 1, 0.3, 1, 0.3, 0.1]
  /// Returns the fewest steps for each node; with fewer, annealing makes the plan worse.
  private static func leastSteps(_ heat: Double) -> Int { Int(200 * heat) }
  /// The moves of one annealing.
  private var steps: Int { min(budget / movesPerStep, Self.stepsPerNode * index.nodeCount) }
  private static let stepsPerNode = 5_000
  /// The cost of a step; in a large graph, memory access dominates.
  private var movesPerStep: Int { 60 + index.nodeCount / 50 }

  /// Returns the best plan that annealing finds within the memory limits, or `plan`.
  private func annealed(_ plan: BalancedPlan, weights: [Double]) -> (plan: BalancedPlan, steps: Int) {
    let descent = BalanceDescent(loads, weights: weights)
    let memory = MemoryLimits(index, frontier)
    var best = plan
    var made = 0
    for (number, heat) in Self.heats.enumerated() where steps >= Self.leastSteps(heat) * index.nodeCount {
      made += steps
      let start = heat < 1 ? best.placement : plan.placement
      guard let found = descent.anneal(start, heat: heat, steps: steps, seed: UInt64(number)), found.peak < best.peak,
        memory.firstExcess(found.placement, found.evaluation) == nil
      else { continue }
      best = found
    }
    return (best, made)
  }

  /// Returns the best of the first of `plans` and of the plans to which they descend, within the memory limits.
  private func descend(_ plans: [BalancedPlan], weights: [Double]) -> BalancedPlan? {
    let descent = BalanceDescent(loads, weights: weights)
    let memory = MemoryLimits(index, frontier)
    var best: BalancedPlan?
    func consider(_ plan: BalancedPlan) {
      if let best, (best.peak, best.evaluation.total) <= (plan.peak, plan.evaluation.total) { return }
      if memory.firstExcess(plan.placement, plan.evaluation) == nil { best = plan }
    }
    for plan in plans.sorted(by: { $0.peak < $1.peak }).prefix(Self.descended) {
      consider(plan)
      if let better = descent.improve(plan.placement) { consider(better) }
    }
    return best
  }
}
