import KelvinEngine
import KelvinPlanning
import KelvinRuntime

#if Measuring
import KelvinBench
#endif

extension ComputePlan {
  /// The measurements of a graph's plans, and the best plan.
  struct TrialOutcome {
    let report: TrialReport
    let solution: PlanSolution
  }

  /// - Returns: nil if there is nothing to choose, and in a build without the trait `Measuring`.
  static func run(
    _ trial: Trial, _ loaded: LoadedModel, _ graph: LoadedGraph, _ explanation: PlanExplanation
  ) throws -> TrialOutcome? {
    guard case .onMadeUpInputs(let seed) = trial, loaded.whatIf == nil, graph.options.plan == nil else { return nil }
    #if Measuring
    return try PlanTrial.run(
      graph.context, explanation, graph.options.request, inputs: try loaded.madeUpTensors(for: graph, seed: seed)
    ).map { TrialOutcome(report: TrialReport($0.record, isDisturbed: $0.hasDisturbedRounds), solution: $0.solution) }
    #else
    _ = seed
    return nil
    #endif
  }
}
