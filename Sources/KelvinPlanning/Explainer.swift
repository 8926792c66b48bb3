/// Gathers what a plan's record says of every node, from the searches on both sides of each cut.
struct Explainer {
  private let problem: PlanningProblem
  private let search: LatencySearch
  private var found: LatencySearch.Found
  private var marginals: Marginals?
  private var index: ProblemIndex { search.index }

  init(_ problem: PlanningProblem, _ search: LatencySearch, _ found: LatencySearch.Found) throws(PlanningError) {
    self.problem = problem
    self.search = search
    self.found = found
    let memory = MemoryLimits(search: search)
    let share = search.budget / 4
    guard SearchBudget.least(index, words: search.frontier.words) <= share else { return }
    let backward = try BackwardSearch(
      index: index, costs: search.costs, frontier: search.frontier, seconds: index.seconds
    ).run(budget: share, keepsStates: true)
    let forward = ForwardSearch(
      index: index, costs: search.costs, frontier: search.frontier, seconds: index.seconds
    ).run(budget: share)
    guard let backward, let forward else { return }
    let joined = Marginals(
      index, search.costs, search.frontier, seconds: index.seconds, forward: forward, backward: backward,
      budget: search.budget)
    marginals = joined
    guard found.method == .approximate,
      let least = joined.totals.indices.min(by: { joined.totals[$0] < joined.totals[$1] })
    else { return }
    let node = least / index.deviceCount
    let better = joined.placement(
      with: node, on: least % index.deviceCount, at: search.frontier.position[node])
    if let evaluation = Evaluation(index, better), evaluation.total < found.evaluation.total,
      memory.firstExcess(better, evaluation) == nil
    {
      self.found.placement = better
      self.found.evaluation = evaluation
    }
  }

  func explain(limit: Int) throws(PlanningError) -> PlanExplanation {
    let solution = found.evaluation.solution(
      index, found.placement, method: found.method, lowerBound: found.lowerBound, searchStates: found.states)
    let singles = singleDevices()
    let transfers = Dictionary(grouping: solution.transfers) { $0.node ?? "" }
    let nodes = (0..<index.nodeCount).map { explain($0, transfers[index.nodeNames[$0]] ?? []) }
    return PlanExplanation(
      solution: solution, nodes: nodes,
      bestSingleDevice: singles.min { ($0.predicted, $0.elsewhere.count) < ($1.predicted, $1.elsewhere.count) },
      singleDevices: singles, ranked: ranked(solution, singles, limit: limit),
      hasExactRegrets: found.method == .exact && marginals?.isExact == true)
  }

  private func regret(_ node: Int, on device: Int) -> Double? {
    if device == found.placement[node] { return 0 }
    guard let total = marginals?.totals[node * index.deviceCount + device], total.isFinite else { return nil }
    return max(0, total - found.evaluation.total)
  }

  private func explain(_ node: Int, _ transfers: [PlannedTransfer]) -> NodeExplanation {
    let record = problem.nodes[node]
    let chosen = found.placement[node]
    let candidates = problem.devices.indices.map { device in
      let name = problem.devices[device]
      if let seconds = record.seconds[name], !problem.exclude.contains(name) {
        return PlanCandidate(
          device: name, seconds: seconds, source: record.source[name] ?? .estimated, regret: regret(node, on: device))
      }
      if problem.exclude.contains(name) { return PlanCandidate(device: name, unsupported: "excluded") }
      return PlanCandidate(device: name, unsupported: record.unsupported[name] ?? "unsupported")
    }
    let others = problem.devices.indices.filter { $0 != chosen && index.seconds(node, on: $0).isFinite }
    return NodeExplanation(
      node: record.id, device: problem.devices[chosen], reason: reason(node, others, candidates),
      regret: others.compactMap { regret(node, on: $0) }.min(), candidates: candidates, transfers: transfers)
  }

  private func reason(_ node: Int, _ others: [Int], _ candidates: [PlanCandidate]) -> String {
    let record = problem.nodes[node]
    if problem.pins[record.id] != nil { return "pinned" }
    let chosen = found.placement[node]
    if others.isEmpty {
      let obstacles = candidates.filter { $0.device != problem.devices[chosen] }.map { candidate in
        switch candidate.unsupported {
        case "excluded": "\(candidate.device) excluded"
        case "unsupported": "unsupported on \(candidate.device)"
        case .some(let why): "unsupported on \(candidate.device): \(why)"
        case nil: "its values do not fit on \(candidate.device)"
        }
      }
      return "only device that can run it" + (obstacles.isEmpty ? "" : " (\(obstacles.joined(separator: "; ")))")
    }
    let here = index.seconds(node, on: chosen)
    guard let cheapest = others.min(by: { index.seconds(node, on: $0) < index.seconds(node, on: $1) }),
      index.seconds(node, on: cheapest) < here
    else { return "cheapest here" }
    let saved = here - index.seconds(node, on: cheapest)
    let name = problem.devices[cheapest]
    guard let regret = regret(node, on: cheapest) else { return "kept: moving costs more than it saves" }
    if found.method == .approximate, regret == 0 {
      return "kept: no better plan was found (\(name) would save \(durationText(saved)) here)"
    }
    return "kept: moving costs more than it saves (\(name) would save \(durationText(saved)) here and add "
      + "\(marginals?.isExact == true ? "" : "up to ")\(durationText(saved + regret)) elsewhere)"
  }

  private func singleDevices() -> [SingleDevicePlan] {
    let memory = MemoryLimits(search: search)
    return problem.devices.indices.compactMap { device in
      guard (0..<index.nodeCount).contains(where: { index.seconds($0, on: device).isFinite }),
        let plan = try? search.placement(seconds: search.secondsKeeping(device)),
        memory.firstExcess(plan.placement, plan.evaluation) == nil
      else { return nil }
      return SingleDevicePlan(
        device: problem.devices[device],
        solution: plan.evaluation.solution(
          index, plan.placement, method: .approximate, lowerBound: found.lowerBound),
        elsewhere: (0..<index.nodeCount).filter { plan.placement[$0] != device }.map { index.nodeNames[$0] })
    }
  }

  private func ranked(_ best: PlanSolution, _ singles: [SingleDevicePlan], limit: Int) -> [RankedPlan] {
    guard limit > 0 else { return [] }
    var seen: Set<[String: String]> = [best.placement]
    var others: [RankedPlan] = []
    for single in singles where seen.insert(single.solution.placement).inserted {
      others.append(RankedPlan(label: "only \(single.device)", solution: single.solution))
    }
    if let marginals, limit > 1 {
      let memory = MemoryLimits(search: search)
      let entries = marginals.totals.indices.filter { entry in
        marginals.totals[entry].isFinite && found.placement[entry / index.deviceCount] != entry % index.deviceCount
      }.sorted { (marginals.totals[$0], $0) < (marginals.totals[$1], $1) }
      var near = 0
      for entry in entries.prefix(4 * limit) where near < limit {
        let node = entry / index.deviceCount
        let device = entry % index.deviceCount
        let placement = marginals.placement(with: node, on: device, at: search.frontier.position[node])
        guard let evaluation = Evaluation(index, placement), memory.firstExcess(placement, evaluation) == nil else {
          continue
        }
        let solution = evaluation.solution(index, placement, method: .approximate, lowerBound: found.lowerBound)
        guard seen.insert(solution.placement).inserted else { continue }
        near += 1
        others.append(
          RankedPlan(label: "\(index.nodeNames[node]) on \(index.deviceNames[device])", solution: solution))
      }
    }
    others.sort { $0.solution.predicted < $1.solution.predicted }
    return [RankedPlan(label: "best", solution: best)] + others.prefix(limit - 1)
  }
}
