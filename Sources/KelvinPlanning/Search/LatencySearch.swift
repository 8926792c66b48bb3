/// Finds the least serial latency: exact if the frontier permits, else the best of several approximations with a bound.
struct LatencySearch {
  struct Found {
    var placement: [Int]
    var evaluation: Evaluation
    var method: PlanSolution.Method
    var lowerBound: Double
    var states = 0
    /// For a wide graph, the final state of the bound's search, from which a search with other costs may start.
    var handed: [Double] = []
  }

  let index: ProblemIndex
  let deliveries: DeliveryCosts
  let frontier: Frontier
  /// The elementary moves that one search may make.
  let budget: Int

  /// The number of live values up to which dynamic programming precedes the approximations, and the number beyond which
  /// it is not tried.
  private static let fewLive = 6
  static let mostLive = 16

  /// - Parameter frontier: the frontier of another index of the same graph, to be reused.
  init(_ index: ProblemIndex, budget: Int, frontier: Frontier? = nil) {
    self.index = index
    self.budget = budget
    deliveries = DeliveryCosts(index)
    self.frontier = frontier ?? Frontier(index)
  }

  /// Returns the best placement within the memory limits.
  func best() throws(PlanningError) -> Found {
    try MemoryLimits(search: self).fit(try placement(seconds: index.seconds))
  }

  /// Returns the best placement when nodes cost `seconds`, with unchanged transfers and without memory limits.
  ///
  /// - Parameters:
  ///   - last: the result of a search with similar costs, from which this one continues.
  ///   - isPolished: whether the plan of a wide graph is improved by cuts.
  func placement(seconds: [Double], after last: Found? = nil, isPolished: Bool = true) throws(PlanningError) -> Found {
    if let pair = DevicePair(index, seconds: seconds) { return try chosen(between: pair, seconds) }
    if frontier.slotCount <= Self.fewLive, let found = try enumerated(seconds) { return found }
    var found = try approximated(seconds, after: last, isPolished)
    if found.method == .approximate, frontier.slotCount > Self.fewLive, frontier.slotCount <= Self.mostLive,
      let exact = try enumerated(seconds)
    {
      found = exact
    }
    return found
  }

  private func chosen(between pair: DevicePair, _ seconds: [Double]) throws(PlanningError) -> Found {
    let (cut, placement) = try self.cut(between: pair, seconds)
    guard let evaluation = Evaluation(index, placement) else { throw Self.unreachable(index, cut.culprit) }
    return Found(
      placement: placement, evaluation: evaluation, method: cut.isExact ? .exact : .approximate,
      lowerBound: cut.lowerBound, states: cut.work)
  }

  /// Returns the cut when no node has more than the two devices of `pair` to choose from.
  func cut(between pair: DevicePair, _ seconds: [Double]) throws(PlanningError) -> (cut: PairCut, placement: [Int]) {
    let cut = PairCut(
      index, deliveries, seconds: seconds, between: pair.first, and: pair.second, placement: pair.placement)
    guard let placement = cut.placement else { throw Self.unreachable(index, cut.culprit) }
    return (cut, placement)
  }

  static func unreachable(_ index: ProblemIndex, _ node: Int) -> PlanningError {
    .infeasible(
      node: index.nodeNames[node],
      "no transfers lead from any device that can run it to where its values are needed",
      remedy: "give the missing transfers, or let it run elsewhere")
  }

  /// Returns the exact plan if the frontier fits the budget.
  private func enumerated(_ seconds: [Double]) throws(PlanningError) -> Found? {
    let costs = CopyCosts(index)
    guard !costs.isRounded, SearchBudget.least(index, words: frontier.words) <= budget else { return nil }
    let search = BackwardSearch(index: index, costs: costs, frontier: frontier, seconds: seconds)
    guard let layers = try search.run(budget: budget, keepsStates: false, mustBeExact: true) else { return nil }
    let placement = search.placement(layers)
    guard let evaluation = Evaluation(index, placement) else { return nil }
    return Found(
      placement: placement, evaluation: evaluation, method: .exact, lowerBound: layers.frontCosts[0],
      states: layers.parents.count)
  }

  private func approximated(_ seconds: [Double], after last: Found?, _ isPolished: Bool) throws(PlanningError) -> Found
  {
    var best = WidePlan(index, deliveries, seconds: seconds)
    if let last { best.consider(last.placement) }
    for device in 0..<index.deviceCount where last == nil { best.consider(onlyOn(device, seconds)) }
    if best.total == .infinity { best.consider(try beam(seconds)) }
    best.improve(budget: budget, from: last?.handed, isPolished: isPolished)
    guard best.total.isFinite, let evaluation = Evaluation(index, best.placement) else {
      throw .infeasible(
        node: index.nodeNames[index.order[0]],
        "no placement within the search limits lets every value reach its consumers",
        remedy: "give more direct transfers")
    }
    return Found(
      placement: best.placement, evaluation: evaluation, method: best.isExact ? .exact : .approximate,
      lowerBound: best.lowerBound, states: best.states, handed: best.handed)
  }

  /// Returns a placement of a truncated search, for graphs whose links permit few placements.
  private func beam(_ seconds: [Double]) throws(PlanningError) -> [Int] {
    let search = BackwardSearch(index: index, costs: CopyCosts(index), frontier: frontier, seconds: seconds)
    guard let layers = try search.run(budget: budget / 4, keepsStates: false) else {
      return Array(repeating: index.host, count: index.nodeCount)
    }
    return search.placement(layers)
  }

  /// Places every node on `device` that can run there; the rest on the host, or where it is cheapest.
  private func onlyOn(_ device: Int, _ seconds: [Double]) -> [Int] {
    let count = index.deviceCount
    return (0..<index.nodeCount).map { node in
      for choice in [device, index.host] where seconds[node * count + choice].isFinite { return choice }
      return (0..<count).min { seconds[node * count + $0] < seconds[node * count + $1] } ?? index.host
    }
  }

  /// Returns the seconds with every node restricted to `device` if it can run there, else to the host, else
  /// unrestricted.
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
