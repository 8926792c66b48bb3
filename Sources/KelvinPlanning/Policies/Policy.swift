/// Chooses a device for each node. A pure function: the same problem gives the same plan.
package protocol Policy: Sendable {
  var goal: Goal { get }
  /// The placement and its transfers alone: the quick answer.
  func solve(_ problem: PlanningProblem) throws(PlanningError) -> PlanSolution
  /// The plan with its alternatives, regrets and reasons.
  /// - Parameter limit: at most this many ranked plans, the best included.
  func explain(_ problem: PlanningProblem, rankedPlans limit: Int) throws(PlanningError) -> PlanExplanation
}

extension PlanningProblem {
  /// The plan that the policy for `goal` chooses.
  /// - Throws: `infeasible` with the node to blame; `unsupported` when no policy serves the goal.
  package func solve() throws(PlanningError) -> PlanSolution {
    try policy().solve(self)
  }

  /// The plan with every node's candidates, reason and regret, and the best other plans.
  package func explain(rankedPlans limit: Int = 8) throws(PlanningError) -> PlanExplanation {
    try policy().explain(self, rankedPlans: limit)
  }

  /// At most `limit` different placements, the plan first, then by predicted seconds: every single-device plan is
  /// considered, and the plans one node away from the best.
  package func rankedPlans(limit: Int) throws(PlanningError) -> [RankedPlan] {
    try explain(rankedPlans: limit).ranked
  }

  private func policy() throws(PlanningError) -> any Policy {
    guard let policy = policies.first(where: { $0.goal == goal }) else {
      throw PlanningError(
        .unsupported, "goal '\(goal.rawValue)'", "no policy serves it",
        remedy: "use one of " + policies.map { $0.goal.rawValue }.joined(separator: ", "))
    }
    return policy
  }
}
