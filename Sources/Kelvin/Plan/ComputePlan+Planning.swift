import KelvinEngine
package import KelvinFeatures
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime

extension ComputePlan {
  /// Whether the best plans and each device alone are run before a plan is adopted, and on what.
  package enum Trial: Sendable {
    case none
    /// On made-up inputs of this seed.
    case onMadeUpInputs(seed: UInt64)
  }

  /// Plans a model that has been read. Blocks the calling thread.
  ///
  /// - Parameters:
  ///   - trial: ignored where there is nothing to choose: a saved plan, a plan for another machine.
  ///   - input: of the sample run that finds sizes which depend on data; what is missing of it is made up.
  /// - Throws: `ModelError` as `Model.load` does.
  package init(
    _ file: ReadModel, configuration: ModelConfiguration, trial: Trial = .none,
    input: DictionaryFeatureProvider? = nil, seed: UInt64 = 0
  ) throws(ModelError) {
    var options = try configuration.options()
    try options.takeSample(input, seed: seed, of: file)
    let settled = options
    let budget = try configuration.powerBudget()
    self = try ModelError.wrapping {
      let loaded = try LoadedModel(program: file.program, options: settled)
      var explanations: [PlanExplanation] = []
      var trials: [TrialReport?] = []
      for graph in loaded.shownGraphs {
        var explanation = try graph.explain()
        let tried = try Self.run(trial, loaded, graph, explanation)
        if let tried, graph.options.request.goal == .latency {
          explanation = explanation.adopting(tried.solution, reason: "measured: \(tried.report.record.reason)")
        }
        explanations.append(explanation)
        trials.append(tried?.report)
      }
      let notes = try loaded.keep(trials.compactMap { $0?.record })
      return try ComputePlan(loaded, explanations, budget: budget, trials: trials, notes: notes)
    }
  }
}

extension LoadOptions {
  /// Takes the inputs of the run that finds sizes which depend on data, with the shapes that they have.
  ///
  /// - Parameter seed: of what is made up for inputs that are missing.
  /// - Throws: `ModelError` with code `featureType` for a value that does not fit.
  mutating func takeSample(
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
