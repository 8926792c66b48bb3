/// Minimizes one warm inference: the serial sum of node and transfer seconds.
///
/// Copies and relays are included. The plan is exact when nodes choose between two devices, by a minimum cut
/// (`PairCut`), and when few values are live at once, by dynamic programming (`BackwardSearch`). Otherwise, or under
/// memory limits, the plan may be approximate and has a gap; see `WidePlan`.
package struct LeastLatency: Policy {
  package let goal = Goal.latency

  /// The number of elementary moves of a search before its plan is approximate; about 5 · 10⁷ take a second.
  private let searchMoves: Int

  package init(searchMoves: Int = 100_000_000) { self.searchMoves = searchMoves }

  package func solve(_ problem: PlanningProblem) throws(PlanningError) -> PlanSolution {
    let found = try LatencySearch(problem.index, budget: searchMoves).best()
    return found.evaluation.solution(
      problem.index, found.placement, method: found.method, lowerBound: found.lowerBound, searchStates: found.states)
  }

  package func explain(_ problem: PlanningProblem, rankedPlans limit: Int) throws(PlanningError) -> PlanExplanation {
    let index = problem.index
    let search = LatencySearch(index, budget: searchMoves)
    var found = try search.best()
    let marginals = try search.marginals(around: found.placement)
    found = search.improving(found, by: marginals)
    func other(_ placement: [Int], _ evaluation: Evaluation) -> PlanSolution {
      evaluation.solution(index, placement, method: .approximate, lowerBound: found.lowerBound)
    }
    let answer = GoalAnswer(
      placement: found.placement,
      solution: found.evaluation.solution(
        index, found.placement, method: found.method, lowerBound: found.lowerBound, searchStates: found.states),
      totals: marginals?.totals ?? index.seconds.map { _ in .infinity },
      hasExactTotals: found.method == .exact && marginals?.isExact == true, here: index.seconds,
      singles: search.singles(other), near: search.near(found.placement, marginals, limit: limit, other))
    return Explainer(problem, answer).explain(limit: limit)
  }
}
