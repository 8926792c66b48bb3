package import FoundationEssentials
import KelvinBasics
import KelvinEngine
package import KelvinFeatures
import KelvinPlanning

/// A planning problem without a model: nodes, devices and costs as JSON.
package enum BareProblem {
  /// Solves the problem and returns the best placement as JSON, with remarks on unknown keys of the problem.
  ///
  /// - Parameters:
  ///   - goal: replaces the problem's goal.
  ///   - runs: the number of inferences after the first; replaces the problem's.
  ///   - envelope: the name or file of an envelope whose power budget replaces the problem's.
  /// - Throws: `ModelError` for a problem that is malformed or has no solution.
  package static func solve(
    _ json: Data, goal: ComputePlan.Goal?, runs: Int?, envelope: String?
  ) throws(ModelError) -> (solution: Data, remarks: [String]) {
    var configuration = ModelConfiguration()
    configuration.thermalEnvelope = envelope
    let power = try configuration.powerBudget()?.power
    return try ModelError.wrapping {
      var (problem, remarks) = try PlanningProblem.read(json)
      var start = problem.start
      if let runs {
        start = start ?? .init()
        start?.runs = runs
      }
      if goal != nil || start != problem.start || power != nil {
        problem = try problem.with(goal: goal?.planned, start: start, power: power)
      }
      return (Data(try JSONText.encode(try problem.solve(), unspeakable: .text)), remarks)
    }
  }

  /// The maximum number of inferences after the first that a plan for the goal `oneShot` takes into account.
  package static let mostRuns = PlanningProblem.mostRuns
}
