/// Minimises one warm inference: the serial sum of node and transfer seconds.
///
/// Exact dynamic programming over the frontier of live values, copies and relays included; see `BackwardSearch`. Where
/// the frontier is too wide, or memory limits bind, the plan is approximate and carries its gap.
package struct LeastLatency: Policy {
  package let goal = Goal.latency

  /// How many elementary moves a search may make before its plan is approximate; some 5 · 10⁷ take a second.
  private let searchMoves: Int

  package init(searchMoves: Int = 100_000_000) { self.searchMoves = searchMoves }

  package func solve(_ problem: PlanningProblem) throws(PlanningError) -> PlanSolution {
    let search = LatencySearch(problem.index, budget: searchMoves)
    let found = try best(search)
    return found.evaluation.solution(
      problem.index, found.placement, method: found.method, lowerBound: found.lowerBound, searchStates: found.states)
  }

  package func explain(_ problem: PlanningProblem, rankedPlans limit: Int) throws(PlanningError) -> PlanExplanation {
    let search = LatencySearch(problem.index, budget: searchMoves)
    let found = try best(search)
    return try Explainer(problem, search, found).explain(limit: limit)
  }

  private func best(_ search: LatencySearch) throws(PlanningError) -> LatencySearch.Found {
    let found = try search.placement(seconds: search.index.seconds)
    return try MemoryLimits(search: search).fit(found)
  }
}
