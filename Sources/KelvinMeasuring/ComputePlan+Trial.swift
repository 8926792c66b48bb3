public import Kelvin
import KelvinBench
import KelvinEngine
import KelvinPlanning
import KelvinRuntime

extension ComputePlan {
  /// Returns a trial that runs plans on inputs generated from a seed.
  package static func trial(onMadeUpInputs seed: UInt64) -> Trial {
    { loaded, graph, explanation in
      try PlanTrial.run(
        graph.context, explanation, graph.options.request, inputs: try loaded.syntheticTensors(for: graph, seed: seed)
      ).map { TrialOutcome($0.record, solution: $0.solution) }
    }
  }

  /// A self-contained HTML page: the placement as a graph, what every layer costs on each device, and why it runs where
  /// it does.
  public func htmlReport() -> String { document.page() }
}
