package import FoundationEssentials
import KelvinBasics
import KelvinEngine
package import KelvinFeatures
import KelvinPlanning

/// A planning problem without a model: nodes, devices and costs as JSON.
package enum BareProblem {
  /// The best placement as JSON, with remarks on what the problem says in keys that are not read.
  ///
  /// - Parameters:
  ///   - goal: in place of the problem's own.
  ///   - runs: inferences after the first, in place of the problem's own.
  ///   - envelope: whose power budget takes the place of the problem's own: a name or a file.
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

  /// The most inferences after the first that a plan for the goal `oneShot` counts.
  package static let mostRuns = PlanningProblem.mostRuns
}
