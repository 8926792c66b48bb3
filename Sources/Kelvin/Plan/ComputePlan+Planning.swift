package import KelvinEngine
package import KelvinFeatures
import KelvinGraph
package import KelvinMeasurements
package import KelvinPlanning
import KelvinRuntime

extension ComputePlan {
  /// Runs the best plans of a graph, and each single device, before a plan is adopted. Returns nil if there is one plan only.
  package typealias Trial = (LoadedModel, LoadedGraph, PlanExplanation) throws -> TrialOutcome?

  /// The measured plans of a graph and the best of them.
  package struct TrialOutcome {
    let record: TriedPlans
    let solution: PlanSolution

    package init(_ record: TriedPlans, solution: PlanSolution) {
      self.record = record
      self.solution = solution
    }
  }

  /// Plans a model that has been read. Blocks the calling thread.
  ///
  /// - Parameters:
  ///   - trial: ignored if there is nothing to choose: for a saved plan or a plan for another machine.
  ///   - input: the inputs of the sample run that finds data-dependent sizes. Missing inputs are generated.
  /// - Throws: `ModelError` as `Model.load` does.
  package init(
    _ file: ReadModel, configuration: ModelConfiguration, trial: Trial? = nil,
    input: DictionaryFeatureProvider? = nil, seed: UInt64 = 0
  ) throws(ModelError) {
    var options = try configuration.storing(file).options()
    try options.takeSample(input, seed: seed, of: file)
    let settled = options
    let budget = try configuration.powerBudget()
    self = try ModelError.wrapping {
      let loaded = try LoadedModel(program: file.program, options: settled)
      var explanations: [PlanExplanation] = []
      var trials: [TrialReport?] = []
      for graph in loaded.shownGraphs {
        var explanation = try graph.explain()
        let hasChoice = loaded.whatIf == nil && graph.options.plan == nil
        let tried = hasChoice ? try trial?(loaded, graph, explanation) : nil
        let report = tried.map { TrialReport($0.record, after: graph.context.trial(graph.options.request)) }
        // An earlier trial that decides has been adopted with the explanation.
        if let tried, report?.earlier == nil, graph.options.request.goal == .latency {
          explanation = explanation.adopting(tried.solution, reason: "measured: \(tried.record.reason)")
        }
        explanations.append(explanation)
        trials.append(report)
      }
      let notes = try loaded.keep(trials.compactMap { $0?.record })
      return try ComputePlan(loaded, explanations, budget: budget, trials: trials, notes: notes)
    }
  }
}

extension LoadOptions {
  /// Sets the inputs, and their shapes, of the sample run that finds data-dependent sizes.
  ///
  /// - Parameter seed: the seed of generated values for missing inputs.
  /// - Throws: `ModelError` with code `featureType` for a value that does not fit.
  package mutating func takeSample(
    _ input: (any FeatureProvider)?, seed: UInt64, of file: @autoclosure () throws(ModelError) -> ReadModel
  ) throws(ModelError) {
    var values: [String: FeatureValue] = [:]
    if let input {
      let known = try file().shapes(of: input, functionName: function).mapValues { Shape($0) }
      shapes.merge(known) { said, _ in said }
      for name in input.featureNames { values[name] = input.featureValue(for: name) }
    }
    sample = Sample(DictionaryFeatureProvider(dictionary: values), seed: seed)
  }
}
