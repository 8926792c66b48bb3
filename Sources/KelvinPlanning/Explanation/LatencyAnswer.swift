extension LatencySearch {
  /// Returns the data for the regrets of a serial goal. With two devices, the minimum cut supplies them. Otherwise two
  /// searches are joined at every node, within a share of the budget. In a wide graph, single moves of nodes of
  /// `placement` are used.
  func marginals(around placement: [Int]) throws(PlanningError) -> (any Marginals)? {
    let share = budget / 4
    let memory = MemoryLimits(search: self)
    if memory.isLimited { return SingleMoves(index, deliveries, placement, within: memory) }
    if let pair = DevicePair(index, seconds: index.seconds) {
      return CutMarginals(index, deliveries, pair, try cut(between: pair, index.seconds), moves: share)
    }
    guard frontier.slotCount <= Self.mostLive, SearchBudget.least(index, words: frontier.words) <= share else {
      return SingleMoves(index, deliveries, placement)
    }
    let costs = CopyCosts(index)
    let backward = try BackwardSearch(index: index, costs: costs, frontier: frontier, seconds: index.seconds)
      .run(budget: share, keepsStates: true)
    let forward = ForwardSearch(index: index, costs: costs, frontier: frontier, seconds: index.seconds)
      .run(budget: share)
    guard let backward, let forward else { return nil }
    return JoinedMarginals(
      index, costs, frontier, seconds: index.seconds, forward: forward, backward: backward, budget: budget)
  }

  /// Returns `found`, or a better plan that the joined searches know if `found` is approximate.
  func improving(_ found: Found, by marginals: (any Marginals)?) -> Found {
    guard found.method == .approximate, let marginals,
      let least = marginals.totals.indices.min(by: { marginals.totals[$0] < marginals.totals[$1] })
    else { return found }
    let node = least / index.deviceCount
    guard let better = marginals.placement(with: node, on: least % index.deviceCount),
      let evaluation = MemoryLimits(search: self).evaluation(better), evaluation.total < found.evaluation.total
    else { return found }
    var improved = found
    improved.placement = better
    improved.evaluation = evaluation
    return improved
  }

  /// Returns the best single-device plan for each device that can run a node: all nodes that can run there do.
  ///
  /// - Parameter solution: converts a placement to a solution with the goal's costs.
  func singles(
    _ solution: (_ placement: [Int], _ evaluation: Evaluation) -> PlanSolution
  ) -> [SingleDevicePlan] {
    let memory = MemoryLimits(search: self)
    return (0..<index.deviceCount).compactMap { device in
      guard (0..<index.nodeCount).contains(where: { index.seconds($0, on: device).isFinite }),
        let plan = try? placement(seconds: secondsKeeping(device)),
        let evaluation = memory.fitted(plan.placement, plan.evaluation)
      else { return nil }
      return SingleDevicePlan(
        device: index.deviceNames[device], solution: solution(plan.placement, evaluation),
        elsewhere: (0..<index.nodeCount).filter { plan.placement[$0] != device }.map { index.nodeNames[$0] })
    }
  }

  /// Returns the plans with the least additional cost, labelled by the node that they place elsewhere.
  func near(
    _ placement: [Int], _ marginals: (any Marginals)?, limit: Int,
    _ solution: (_ placement: [Int], _ evaluation: Evaluation) -> PlanSolution
  ) -> [RankedPlan] {
    guard let marginals, limit > 1 else { return [] }
    let memory = MemoryLimits(search: self)
    let entries = marginals.totals.indices.filter { entry in
      marginals.totals[entry].isFinite && placement[entry / index.deviceCount] != entry % index.deviceCount
    }.sorted { (marginals.totals[$0], $0) < (marginals.totals[$1], $1) }
    var seen: Set<[Int]> = [placement]
    var found: [RankedPlan] = []
    for entry in entries.prefix(4 * limit) where found.count < limit {
      let node = entry / index.deviceCount
      let device = entry % index.deviceCount
      guard let other = marginals.placement(with: node, on: device), let evaluation = memory.evaluation(other),
        seen.insert(other).inserted
      else { continue }
      found.append(
        RankedPlan(
          label: "\(index.nodeNames[node]) on \(index.deviceNames[device])", solution: solution(other, evaluation)))
    }
    return found
  }
}
