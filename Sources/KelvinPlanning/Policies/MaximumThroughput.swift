import KelvinBasics

/// Maximizes the frames per second of a pipelined stream. Sessions overlap, so the resource with the largest load
/// limits the rate. `Loads` defines the loads, and `BalanceSearch` minimizes the largest one.
package struct MaximumThroughput: Policy {
  package let goal = Goal.throughput

  private let searchMoves: Int

  package init(searchMoves: Int = 60_000_000) { self.searchMoves = searchMoves }

  package func solve(_ problem: PlanningProblem) throws(PlanningError) -> PlanSolution {
    let answer = BalanceAnswer(problem, Loads(resourcesOf: problem.index), budget: searchMoves)
    return remarked(try answer.solve().solution)
  }

  package func explain(_ problem: PlanningProblem, rankedPlans limit: Int) throws(PlanningError) -> PlanExplanation {
    let answer = BalanceAnswer(problem, Loads(resourcesOf: problem.index), budget: searchMoves)
    var found = try answer.explain(limit: limit)
    found.solution = remarked(found.solution)
    return Explainer(problem, found).explain(limit: limit)
  }

  private func remarked(_ solution: PlanSolution) -> PlanSolution {
    guard let rate = solution.framesPerSecond, solution.predicted > 0, let limit = solution.limitedBy else {
      return solution
    }
    var solution = solution
    solution.remark =
      "\(limit) limits the rate: \(HumanReadable.framesPerSecond(rate)); one inference at a time would reach "
      + HumanReadable.framesPerSecond(1 / solution.predicted)
    return solution
  }
}
