import ArgumentParser
import KelvinBasics
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime
import KelvinThermal

/// What a plan is to be best at.
struct GoalOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("What to be best at: latency, one-shot, throughput or sustained.", valueName: "goal"),
    transform: goal)
  var goal: Goal?

  @Option(
    help: ArgumentHelp("Inferences after the first, for the goal one-shot. (default: 0)", valueName: "n"),
    transform: runCount)
  var runs: Int?

  @Option(
    help: ArgumentHelp(
      "How often loops are expected to go round whose limit the model does not fix. (default: 10)", valueName: "n"),
    transform: tripCount)
  var trips: Double?

  @Option(
    help: ArgumentHelp(
      "The power budget of the goal sustained: phone, fanless-laptop, laptop, desktop, server, or a file.",
      valueName: "name|file"))
  var envelope: String?

  /// The envelope that was named; nil where none was.
  func namedEnvelope() throws -> ThermalEnvelope? { try envelope.map { try ThermalEnvelope(named: $0) } }

  /// Adds runs and, where the goal asks for one, a power budget: that of the envelope named, else of the class of machine.
  /// - Returns: what the report says of the budget.
  func complete(_ request: inout PlanRequest) throws -> String? {
    request.runs = runs ?? 0
    if let trips { request.trips.standard = trips }
    let named = try namedEnvelope()
    guard named != nil || request.goal == .sustained else { return nil }
    let envelope = named ?? .assumed(for: MachineDescription(SystemFiles()))
    request.power = .init(envelope)
    let spare = HumanReadable.significant(envelope.sustainableWatts - envelope.idleWatts)
    return "envelope '\(envelope.name)'\(named == nil ? ", assumed for this machine (--envelope)" : ""): "
      + "\(spare) W above idle for ever"
  }

  private static func goal(_ text: String) throws -> Goal {
    guard let goal = Goal(rawValue: text) else {
      throw ValidationError("'\(text)' is not a goal; use \(Goal.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return goal
  }

  private static func runCount(_ text: String) throws -> Int {
    guard let count = Int(text), (0...PlanningProblem.mostRuns).contains(count) else {
      throw ValidationError("'\(text)' is not a number of runs; use 0 to \(PlanningProblem.mostRuns)")
    }
    return count
  }

  private static func tripCount(_ text: String) throws -> Double {
    guard let count = Double(text), (0...1e6).contains(count) else {
      throw ValidationError("'\(text)' is not a number of trips; use 0 to 1000000")
    }
    return count
  }
}

extension PlanningProblem.Power {
  init(_ envelope: ThermalEnvelope) {
    self.init(idleWatts: envelope.idleWatts, sustainableWatts: envelope.sustainableWatts)
  }
}
