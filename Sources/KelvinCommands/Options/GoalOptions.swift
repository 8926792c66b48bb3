import ArgumentParser
import Kelvin
import KelvinBasics

/// The options for the goal of a plan.
struct GoalOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The goal to optimize: latency, one-shot, throughput or sustained.", valueName: "goal"),
    transform: goal)
  var goal: ComputePlan.Goal?

  @Option(
    help: ArgumentHelp("The number of inferences after the first, for the goal one-shot. (default: 0)", valueName: "n"),
    transform: runCount)
  var runs: Int?

  @Option(
    help: ArgumentHelp(
      "The expected number of iterations of loops without a fixed limit. (default: 10)", valueName: "n"),
    transform: tripCount)
  var trips: Double?

  @Option(
    help: ArgumentHelp(
      "The power budget of the goal sustained: phone, fanless-board, fanless-laptop, laptop, desktop, server, or a file.",
      valueName: "name|file"))
  var envelope: String?

  /// Applies the options to a model configuration.
  func complete(_ configuration: inout ModelConfiguration) {
    configuration.goal = goal ?? .latency
    configuration.expectedPredictions = runs ?? 0
    configuration.expectedIterations = trips
    configuration.thermalEnvelope = envelope
  }

  private static func goal(_ text: String) throws -> ComputePlan.Goal {
    guard let goal = ComputePlan.Goal(rawValue: text) else {
      let names = ComputePlan.Goal.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("'\(text)' is not a goal; use \(names)")
    }
    return goal
  }

  private static func runCount(_ text: String) throws -> Int {
    guard let count = Int(text), (0...BareProblem.mostRuns).contains(count) else {
      throw ValidationError("'\(text)' is not a number of runs; use 0 to \(BareProblem.mostRuns)")
    }
    return count
  }

  private static func tripCount(_ text: String) throws -> Double {
    guard let count = NumberText.number(text), (0...1e6).contains(count) else {
      throw ValidationError("'\(text)' is not a number of iterations; use 0 to 1000000")
    }
    return count
  }
}
