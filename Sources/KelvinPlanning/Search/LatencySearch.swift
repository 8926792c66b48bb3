/// The least serial latency: exact where the frontier allows, else the best of several approximations with a bound.
struct LatencySearch {
  struct Found {
    var placement: [Int]
    var evaluation: Evaluation
    var method: PlanSolution.Method
    var lowerBound: Double
    var states = 0
  }

  let index: ProblemIndex
  let costs: CopyCosts
  let frontier: Frontier
  /// Elementary moves one search may make.
  let budget: Int

  /// - Parameter frontier: that of another index of the same graph.
  init(_ index: ProblemIndex, budget: Int, frontier: Frontier? = nil) {
    self.index = index
    self.budget = budget
    costs = CopyCosts(index)
    self.frontier = frontier ?? Frontier(index)
  }

  /// The best placement within the memory limits.
  func best() throws(PlanningError) -> Found {
    try MemoryLimits(search: self).fit(try placement(seconds: index.seconds))
  }

  /// The best placement when nodes cost `seconds`, transfers as ever; memory limits are not looked at.
  func placement(seconds: [Double]) throws(PlanningError) -> Found {
    let search = BackwardSearch(index: index, costs: costs, frontier: frontier, seconds: seconds)
    var candidates: [[Int]] = []
    var states = 0
    if SearchBudget.least(index, words: frontier.words) <= budget {
      if let layers = try search.run(budget: budget, keepsStates: false) {
        let placement = search.placement(layers)
        states += layers.parents.count
        if !layers.isTruncated, let evaluation = Evaluation(index, placement) {
          let bound = layers.frontCosts[0]
          let isExact = !costs.isRounded || evaluation.total <= bound
          return Found(
            placement: placement, evaluation: evaluation, method: isExact ? .exact : .approximate, lowerBound: bound,
            states: states)
        }
        candidates.append(placement)
      }
    }
    let relaxation = try Relaxation(index, costs, seconds: seconds, budget: budget)
    states += relaxation.states
    candidates.append(relaxation.placement)
    for device in 0..<index.deviceCount { candidates.append(onlyOn(device, seconds)) }
    let descent = Descent(index, costs, seconds: seconds)
    var best: Found?
    for start in candidates {
      let placement = descent.improve(start)
      guard let evaluation = Evaluation(index, placement) else { continue }
      if best.map({ evaluation.total < $0.evaluation.total }) ?? true {
        best = Found(
          placement: placement, evaluation: evaluation, method: .approximate, lowerBound: relaxation.bound,
          states: states)
      }
    }
    guard var best else {
      throw .infeasible(
        node: index.nodeNames[index.order[0]],
        "no placement within the search limits lets every value reach its consumers",
        remedy: "give more direct transfers")
    }
    if best.evaluation.total <= best.lowerBound { best.method = .exact }
    return best
  }

  /// Every node on `device` that can run there; the rest on the host, or where it is cheapest.
  private func onlyOn(_ device: Int, _ seconds: [Double]) -> [Int] {
    let count = index.deviceCount
    return (0..<index.nodeCount).map { node in
      for choice in [device, index.host] where seconds[node * count + choice].isFinite { return choice }
      return (0..<count).min { seconds[node * count + $0] < seconds[node * count + $1] } ?? index.host
    }
  }

  /// Seconds with every node kept on `device` where it can run there, else on the host, else anywhere.
  func secondsKeeping(_ device: Int) -> [Double] {
    let count = index.deviceCount
    var seconds = index.seconds
    for node in 0..<index.nodeCount {
      let only = [device, index.host].first { index.seconds(node, on: $0).isFinite }
      for other in 0..<count where only != nil && other != only { seconds[node * count + other] = .infinity }
    }
    return seconds
  }
}

/// A lower bound, and a plan to start from: the exact search with the longest-lived values moved for nothing until the
/// rest fits.
struct Relaxation {
  let bound: Double
  let placement: [Int]
  let states: Int

  init(_ index: ProblemIndex, _ costs: CopyCosts, seconds: [Double], budget: Int) throws(PlanningError) {
    var best: (bound: Double, placement: [Int], states: Int)?
    for width in stride(from: 7, through: 0, by: -1) {
      let frontier = Frontier(index, width: width)
      let search = BackwardSearch(index: index, costs: costs, frontier: frontier, seconds: seconds)
      guard let layers = try search.run(budget: budget / 8, keepsStates: false, mustBeExact: true) else { continue }
      best = (layers.frontCosts[0], search.placement(layers), layers.parents.count)
      break
    }
    bound = best?.bound ?? 0
    states = best?.states ?? 0
    placement = best?.placement ?? Array(repeating: index.host, count: index.nodeCount)
  }
}
