import KelvinBasics

/// The result of a goal's search, from which explanations are made. Costs are the seconds that the goal minimizes.
struct GoalAnswer {
  var placement: [Int]
  var solution: PlanSolution
  /// The least objective with a node on a device and all else optimal, `node * devices + device`; infinite when
  /// unknown.
  var totals: [Double]
  /// Whether all totals are exact; false when one is an upper bound or unknown.
  var hasExactTotals: Bool
  /// The cost of a node alone on a device, `node * devices + device`; infinite where the node may not run.
  var here: [Double]
  var singles: [SingleDevicePlan]
  /// Other plans to consider, best first.
  var near: [RankedPlan]
  /// As `PlanExplanation.replicas`.
  var replicas: PlanSolution?
}

/// Explains each node: the considered devices, the reason for the choice, and the cost of the alternatives.
struct Explainer {
  private let problem: PlanningProblem
  private let answer: GoalAnswer
  /// Nil when no device is limited.
  private let memory: MemoryLimits?
  private let streamed: Set<String>
  private var index: ProblemIndex { problem.index }

  init(_ problem: PlanningProblem, _ answer: GoalAnswer) {
    self.problem = problem
    self.answer = answer
    streamed = Set(answer.solution.streamed ?? [])
    memory = problem.memory.isEmpty ? nil : MemoryLimits(problem.index, Frontier(problem.index))
  }

  func explain(limit: Int) -> PlanExplanation {
    let transfers = Dictionary(grouping: answer.solution.transfers) { $0.node ?? "" }
    return PlanExplanation(
      solution: answer.solution,
      nodes: (0..<index.nodeCount).map { explain($0, transfers[index.nodeNames[$0]] ?? []) },
      bestSingleDevice: answer.singles.min {
        ($0.solution.objective, $0.elsewhere.count) < ($1.solution.objective, $1.elsewhere.count)
      },
      singleDevices: answer.singles, ranked: ranked(limit: limit), hasExactRegrets: answer.hasExactTotals,
      replicas: answer.replicas)
  }

  private func regret(_ node: Int, on device: Int) -> Double? {
    if device == answer.placement[node] { return 0 }
    let total = answer.totals[node * index.deviceCount + device]
    return total.isFinite ? max(0, total - answer.solution.objective) : nil
  }

  private func explain(_ node: Int, _ transfers: [PlannedTransfer]) -> NodeExplanation {
    let record = problem.nodes[node]
    let chosen = answer.placement[node]
    let candidates = problem.devices.indices.map { device in
      let name = problem.devices[device]
      if let seconds = record.seconds[name], !problem.exclude.contains(name) {
        return PlanCandidate(
          device: name, seconds: seconds, source: record.source[name] ?? .estimated, joules: record.joules[name],
          regret: regret(node, on: device))
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
    let chosen = answer.placement[node]
    if streamed.contains(record.id) {
      let bytes = HumanReadable.bytes(index.ownBytes(of: node, on: chosen))
      return "its \(bytes) of weights are copied to \(problem.devices[chosen]) before each use"
    }
    // A pin to the only device that can run the node decides nothing.
    let hasChoice = candidates.contains { $0.seconds != nil && $0.device != problem.devices[chosen] }
    if problem.pins[record.id] != nil, hasChoice { return "pinned" }
    if others.isEmpty {
      let obstacles = candidates.filter { $0.device != problem.devices[chosen] }.map { candidate in
        switch candidate.unsupported {
        case "excluded": "\(candidate.device) excluded"
        case "unsupported": "unsupported on \(candidate.device)"
        case .some(let why): "unsupported on \(candidate.device): \(why)"
        case nil:
          "its \(record.weights.isEmpty ? "values do" : "values and weights do") not fit on \(candidate.device)"
        }
      }
      return obstacles.isEmpty ? "only device" : obstacles.joined(separator: "; ")
    }
    let here = answer.here[node * index.deviceCount + chosen]
    guard
      let cheapest = others.min(by: {
        answer.here[node * index.deviceCount + $0] < answer.here[node * index.deviceCount + $1]
      }), answer.here[node * index.deviceCount + cheapest] < here
    else { return "cheapest here" }
    let name = problem.devices[cheapest]
    let saved = HumanReadable.seconds(here - answer.here[node * index.deviceCount + cheapest])
    if let memory, !memory.fits(answer.placement, moving: node, to: cheapest) {
      let bytes = index.weightBytes(of: node, on: cheapest)
      let what = bytes > 0 ? "its \(HumanReadable.bytes(bytes)) of weights" : "its values"
      return "no room on \(name) for \(what) beside the others (it would save \(saved) here)"
    }
    guard let regret = regret(node, on: cheapest) else { return "kept: moving costs more than it saves" }
    if regret == 0, answer.solution.method == .approximate {
      return "kept: no better plan was found (\(name) would save \(saved) here)"
    }
    let most = answer.hasExactTotals ? "" : "up to "
    switch problem.goal {
    case .latency, .oneShot:
      let added = HumanReadable.seconds(here - answer.here[node * index.deviceCount + cheapest] + regret)
      return
        "kept: moving costs more than it saves (\(name) would save \(saved) here and add \(most)\(added) elsewhere)"
    case .throughput, .sustained:
      if regret == 0 {
        return "kept: moving gains nothing (\(name) would save \(saved) here, "
          + "and \(answer.solution.limitedBy ?? "another resource") limits the rate)"
      }
      return "kept: moving costs more than it saves (\(name) would save \(saved) here "
        + "and add \(most)\(HumanReadable.seconds(regret)) to every frame)"
    }
  }

  private func ranked(limit: Int) -> [RankedPlan] {
    guard limit > 0 else { return [] }
    var seen: Set<[String: String]> = [answer.solution.placement]
    var others: [RankedPlan] = []
    for single in answer.singles where seen.insert(single.solution.placement).inserted {
      others.append(RankedPlan(label: "only \(single.device)", solution: single.solution))
    }
    for plan in answer.near where seen.insert(plan.solution.placement).inserted { others.append(plan) }
    others.sort { $0.solution.objective < $1.solution.objective }
    return [RankedPlan(label: "best", solution: answer.solution)] + others.prefix(limit - 1)
  }
}
