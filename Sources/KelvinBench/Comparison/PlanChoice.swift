import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime

/// The plan of a configuration: the given plan, or the best one that may run.
struct PlanChoice {
  let explanation: PlanExplanation
  /// The trial of plans; nil when none was made.
  let trial: PlanTrial?

  /// - Parameters:
  ///   - scenario: the other load of the machine.
  ///   - inputs: the inputs to try plans with, when several devices may take part; nil to try none.
  ///   - budget: seconds for trying plans.
  ///   - companions: processes of this benchmark, whose processor time is not a disturbance.
  /// - Throws: `RuntimeError` or `PlanningError`.
  init(
    _ configuration: BenchmarkConfiguration, _ context: ModelContext, _ scenario: Scenario, inputs: [Tensor]?,
    budget: Double = PlanTrial.usualBudget, clock: any MeasurementClock, companions: [Int32] = [],
    observe: MeasurementObserver = { _ in }
  ) throws {
    let request = configuration.request
    let planned = try context.explain(request, adopting: configuration.plan, in: scenario)
    guard configuration.plan == nil, request.goal == .latency else {
      (explanation, trial) = (planned, nil)
      return
    }
    if let inputs, try context.planner.devices(for: request).units.count > 1 {
      var reduced = request
      reduced.threads = scenario.threads(of: request.threads)
      if let trial = try PlanTrial.run(
        context, planned, reduced, inputs: inputs, budget: budget, clock: clock, companions: companions,
        observe: observe),
        // A trial that others disturbed does not replace a quiet one, which decides below.
        context.trial(request).map({ !$0.isAbout(trial.record) || trial.record.replaces($0) }) ?? true
      {
        explanation = planned.adopting(trial.solution, reason: "measured: \(trial.record.reason)")
        self.trial = trial
        return
      }
    }
    explanation = planned.proven(by: context.trial(request), goal: request.goal).explanation
    trial = nil
  }
}
