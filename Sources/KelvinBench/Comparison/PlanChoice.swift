import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime

/// The plan by which a configuration runs: one that was given, else the best one that may run.
struct PlanChoice {
  let explanation: PlanExplanation
  /// What was tried for it; nil where nothing was.
  let trial: PlanTrial?

  /// - Parameters:
  ///   - scenario: what else the machine does.
  ///   - inputs: to try plans with, where several devices may take part; nil to try none.
  ///   - budget: seconds for trying them.
  ///   - companions: processes of ours, whose time is no disturbance.
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
        observe: observe)
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
