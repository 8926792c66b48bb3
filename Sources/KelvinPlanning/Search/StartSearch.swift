/// Minimizes `load + start of every device used + start of every node + inferences · seconds of one`.
///
/// Divided by the number of inferences, this is a serial sum except for the devices' starts. For each set of devices
/// that may be used, `LatencySearch` minimizes the rest.
///
/// Sets are tried in decreasing size. The result of a set is a lower bound for its subsets. It is also their solution
/// if it uses none of the devices that they lack, so most sets are never searched.
struct StartSearch {
  struct Plan {
    var placement: [Int]
    var evaluation: Evaluation
    /// One-time seconds, loading included.
    var start: Double
    var seconds: Double { evaluation.total }

    func total(_ inferences: Double) -> Double { start + inferences * seconds }
  }

  struct Found {
    var plan: Plan
    var lowerBound: Double
    var isExact: Bool
    var states: Int
  }

  let index: ProblemIndex
  let budget: Int
  let frontier: Frontier
  /// The devices whose start has a cost. A set of them is a bit mask over their indices in this array.
  let optional: [Int]

  private static let tolerance = 1e-12
  /// The most sets that are searched; other sets only contribute their bound.
  private static let mostSearches = 48

  init(_ index: ProblemIndex, budget: Int) {
    self.index = index
    self.budget = budget
    frontier = Frontier(index)
    optional = (0..<index.deviceCount).filter { index.deviceStart[$0] > 0 }
  }

  /// Returns the graph restricted to `set` and the devices that start without cost, at the mean cost of each of
  /// `inferences`.
  func restricted(to set: Int, inferences: Double) -> ProblemIndex {
    var other = index
    let count = index.deviceCount
    for entry in other.seconds.indices where other.seconds[entry].isFinite {
      other.seconds[entry] += index.startSeconds[entry] / inferences
    }
    for (bit, device) in optional.enumerated() where set & (1 << bit) == 0 {
      for node in 0..<index.nodeCount { other.seconds[node * count + device] = .infinity }
      if device == index.host { continue }
      for end in 0..<count {
        other.latency[end * count + device] = .infinity
        other.latency[device * count + end] = .infinity
      }
    }
    return other
  }

  func startSeconds(of set: Int) -> Double {
    optional.enumerated().reduce(0) { $0 + (set & (1 << $1.offset) == 0 ? 0 : index.deviceStart[$1.element]) }
  }

  /// Returns the devices that run a node or receive a copy; the host only counts for nodes.
  func used(_ placement: [Int], _ evaluation: Evaluation) -> Int {
    var devices = 0
    for device in placement { devices |= 1 << device }
    for copy in evaluation.copies where copy.to != index.host { devices |= 1 << copy.to }
    return optional.enumerated().reduce(0) { $0 | (devices & (1 << $1.element) == 0 ? 0 : 1 << $1.offset) }
  }

  func plan(_ placement: [Int], _ evaluation: Evaluation) -> Plan {
    var start = index.load + startSeconds(of: used(placement, evaluation))
    for node in 0..<index.nodeCount { start += index.startSeconds[node * index.deviceCount + placement[node]] }
    return Plan(placement: placement, evaluation: evaluation.repriced(index, placement), start: start)
  }

  /// The sets of optional devices, larger ones first.
  var sets: [Int] {
    (0..<(1 << optional.count)).sorted { ($1.nonzeroBitCount, $0) < ($0.nonzeroBitCount, $1) }
  }

  /// - Parameter known: for each set, the result of its last search, from which this search continues.
  func best(
    inferences: Double, after known: inout [Int: LatencySearch.Found]
  ) throws(PlanningError) -> Found {
    var best: Plan?
    var bound = Double.infinity
    var states = 0
    var solved: [(set: Int, bound: Double, used: Int)] = []
    var failure: PlanningError?
    var searches = 0
    for set in sets {
      let above = solved.filter { $0.set & set == set }
      let floor = above.lazy.map(\.bound).max() ?? 0
      let least = index.load + startSeconds(of: set) + inferences * floor
      if let best, least >= best.total(inferences) { continue }
      if above.contains(where: { $0.used & set == $0.used }) { continue }
      if searches == Self.mostSearches {
        bound = min(bound, least)
        continue
      }
      searches += 1
      let search = LatencySearch(
        restricted(to: set, inferences: inferences), budget: budget, frontier: frontier)
      do {
        let found = try search.placement(seconds: search.index.seconds, after: known[set])
        known[set] = found
        states += found.states
        solved.append((set, found.lowerBound, found.method == .exact ? used(found.placement, found.evaluation) : -1))
        bound = min(bound, index.load + startSeconds(of: set) + inferences * found.lowerBound)
        let fitting = try MemoryLimits(search: search).fit(found)
        let plan = plan(fitting.placement, fitting.evaluation)
        if best.map({ plan.total(inferences) < $0.total(inferences) }) ?? true { best = plan }
      } catch {
        failure = failure ?? error
        if error.code == .infeasible, solved.last?.set != set { solved.append((set, .infinity, -1)) }
      }
    }
    guard let best else {
      throw failure ?? PlanningError(.infeasible, "problem", "no set of devices can run it")
    }
    let total = best.total(inferences)
    bound = min(bound, total)
    return Found(
      plan: best, lowerBound: bound, isExact: total - bound <= Self.tolerance * total, states: states)
  }
}
