import KelvinBasics

/// Maximizes the frames per second that can be sustained for hours: `min(1 / bottleneck, spareWatts / joules)`, with
/// `spareWatts` the sustainable power above idle. Its reciprocal is the largest of the resources' loads and of `joules
/// / spareWatts`, so this is `MaximumThroughput` with an additional load.
package struct Sustained: Policy {
  package let goal = Goal.sustained

  private let searchMoves: Int

  package init(searchMoves: Int = 60_000_000) { self.searchMoves = searchMoves }

  package func solve(_ problem: PlanningProblem) throws(PlanningError) -> PlanSolution {
    let loads = try Loads(resourcesAndPowerOf: problem.index)
    let found = try BalanceAnswer(problem, loads, budget: searchMoves).solve()
    return try remarked(found.solution, problem, loads)
  }

  package func explain(_ problem: PlanningProblem, rankedPlans limit: Int) throws(PlanningError) -> PlanExplanation {
    let loads = try Loads(resourcesAndPowerOf: problem.index)
    var found = try BalanceAnswer(problem, loads, budget: searchMoves).explain(limit: limit)
    found.solution = try remarked(found.solution, problem, loads)
    return Explainer(problem, found).explain(limit: limit)
  }

  private func remarked(
    _ solution: PlanSolution, _ problem: PlanningProblem, _ loads: Loads
  ) throws(PlanningError) -> PlanSolution {
    guard let rate = solution.framesPerSecond, let bottleneck = solution.bottleneck else { return solution }
    var solution = solution
    let fastest = try BalanceSearch(Loads(resourcesOf: problem.index), budget: searchMoves / 4).run().plan
    let sustained = loads.sum(fastest.placement, fastest.evaluation).max() ?? 0
    let theirs = sustained > 0 ? 1 / sustained : .infinity
    if solution.limitedBy != "power" {
      solution.remark = "\(bottleneck.resource) limits the rate, not power: \(HumanReadable.framesPerSecond(rate))"
    } else if theirs >= rate * (1 - 1e-6) {
      solution.remark = "power-bound: \(HumanReadable.framesPerSecond(rate)); the fastest plan sustains no more"
    } else {
      solution.remark =
        "power-bound: \(HumanReadable.framesPerSecond(rate)); the fastest plan (\(HumanReadable.framesPerSecond(fastest.peak > 0 ? 1 / fastest.peak : .infinity)) "
        + "while cool) would sustain only \(HumanReadable.framesPerSecond(theirs))"
    }
    return solution
  }
}
