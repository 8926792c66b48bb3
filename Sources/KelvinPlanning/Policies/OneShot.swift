/// Minimizes the time of a program that starts, infers and ends: loading, compilation, the first inference and `runs`
/// more.
///
/// The plan is exact when `LatencySearch` is exact for every set of started devices; see `StartSearch`. The solution
/// also lists the numbers of runs at which the plan changes.
package struct OneShot: Policy {
  package let goal = Goal.oneShot

  private let searchMoves: Int
  /// The number of searches for changes of the plan; fewer for graphs or sets of devices for which each search takes
  /// long.
  private static let flipSearches = 64
  private static let mostExactSets = 16

  package init(searchMoves: Int = 100_000_000) { self.searchMoves = searchMoves }

  package func solve(_ problem: PlanningProblem) throws(PlanningError) -> PlanSolution {
    try solve(problem, StartSearch(problem.index, budget: searchMoves)).solution
  }

  private func solve(
    _ problem: PlanningProblem, _ search: StartSearch
  ) throws(PlanningError) -> (solution: PlanSolution, plan: StartSearch.Plan) {
    let index = problem.index
    let inferences = 1 + Double(index.runs)
    var known: [Int: LatencySearch.Found] = [:]
    let found = try search.best(inferences: inferences, after: &known)
    var solution = Self.solution(index, found.plan, inferences, found.isExact ? .exact : .approximate, found.lowerBound)
    solution.searchStates = found.states
    let searches = Self.flipSearches >> max(0, search.optional.count - 4)
    let limit = max(4, min(searches, searchMoves / max(1, 1_000 * index.nodeCount)))
    let (flips, isComplete) = try FlipSearch(search: search, limit: limit).run(after: &known)
    solution.flips = flips
    if problem.start == nil, !index.startSeconds.contains(where: { $0 > 0 }) {
      solution.remark = "no start costs are given: the plan is that of goal 'latency'"
    } else if !isComplete {
      solution.remark = "more changes may exist between those listed"
    }
    return (solution, found.plan)
  }

  private static func solution(
    _ index: ProblemIndex, _ plan: StartSearch.Plan, _ inferences: Double, _ method: PlanSolution.Method,
    _ lowerBound: Double
  ) -> PlanSolution {
    var solution = plan.evaluation.solution(
      index, plan.placement, method: method, lowerBound: lowerBound, objective: plan.total(inferences))
    solution.startSeconds = plan.start
    return solution
  }

  package func explain(_ problem: PlanningProblem, rankedPlans limit: Int) throws(PlanningError) -> PlanExplanation {
    let index = problem.index
    let search = StartSearch(index, budget: searchMoves)
    let inferences = 1 + Double(index.runs)
    let (best, plan) = try solve(problem, search)
    var totals = Array(repeating: Double.infinity, count: index.seconds.count)
    let all = (1 << search.optional.count) - 1
    let sets =
      search.sets.count <= Self.mostExactSets ? search.sets : [all, search.used(plan.placement, plan.evaluation)]
    var isExact = best.method == .exact && sets.count == search.sets.count
    var singles: [SingleDevicePlan] = []
    var near: [RankedPlan] = []
    func other(_ placement: [Int], _ evaluation: Evaluation) -> PlanSolution {
      Self.solution(
        index, search.plan(placement, evaluation), inferences, .approximate, best.lowerBound)
    }
    for set in sets {
      let inner = LatencySearch(
        search.restricted(to: set, inferences: inferences), budget: searchMoves / sets.count, frontier: search.frontier)
      do {
        guard let marginals = try inner.marginals(around: plan.placement) else {
          isExact = false
          continue
        }
        isExact = isExact && marginals.isExact
        let start = index.load + search.startSeconds(of: set)
        for entry in totals.indices { totals[entry] = min(totals[entry], start + inferences * marginals.totals[entry]) }
        near += inner.near(plan.placement, marginals, limit: limit, other)
      } catch {
        guard error.code == .infeasible else { throw error }
      }
      if set == all { singles = inner.singles(other) }
    }
    var here = search.restricted(to: all, inferences: inferences).seconds
    for entry in here.indices { here[entry] *= inferences }
    near.sort { $0.solution.objective < $1.solution.objective }
    let answer = GoalAnswer(
      placement: plan.placement, solution: best, totals: totals, hasExactTotals: isExact, here: here,
      singles: singles, near: near)
    return Explainer(problem, answer).explain(limit: limit)
  }
}
