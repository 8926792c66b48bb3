/// A policy chooses a device for each node. It is a pure function: the same problem gives the same plan.
package protocol Policy: Sendable {
  var goal: Goal { get }
  /// Returns only the placement and its transfers, which is faster than an explanation.
  func solve(_ problem: PlanningProblem) throws(PlanningError) -> PlanSolution
  /// Returns the plan with its alternatives, regrets and reasons.
  ///
  /// - Parameter limit: the most ranked plans, the best included.
  func explain(_ problem: PlanningProblem, rankedPlans limit: Int) throws(PlanningError) -> PlanExplanation
}

extension PlanningProblem {
  /// Returns the plan of the policy for `goal`.
  ///
  /// - Throws: `infeasible` with the node that cannot be placed; `unsupported` when no policy serves the goal.
  package func solve() throws(PlanningError) -> PlanSolution {
    try policy().solve(self)
  }

  /// Returns the plan with every node's candidates, reason and regret, and the best other plans.
  package func explain(rankedPlans limit: Int = 8) throws(PlanningError) -> PlanExplanation {
    try policy().explain(self, rankedPlans: limit)
  }

  /// Returns at most `limit` different placements, the plan first, then by predicted seconds. Candidates are the
  /// single-device plans and the plans that differ from the best in one node.
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
