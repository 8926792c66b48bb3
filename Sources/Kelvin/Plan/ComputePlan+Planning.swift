package import FoundationEssentials
import KelvinBench
import KelvinEngine
package import KelvinFeatures
import KelvinMeasurements
import KelvinPlanning
import KelvinProfiler
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
  /// - Parameter trial: ignored where there is nothing to choose: a saved plan, a plan for another machine.
  /// - Throws: `ModelError` as `Model.load` does.
  package init(
    _ file: ReadModel, configuration: ModelConfiguration, trial: Trial = .none
  ) throws(ModelError) {
    let options = try configuration.options()
    let budget = try configuration.powerBudget()
    self = try ModelError.wrapping {
      let loaded = try LoadedModel(program: file.program, options: options)
      var explanation = try loaded.explain()
      let tried = try Self.run(trial, loaded, explanation)
      if let tried, loaded.options.request.goal == .latency {
        explanation = explanation.adopting(tried.solution, reason: "measured: \(tried.reason)")
      }
      return try ComputePlan(loaded, explanation, budget: budget, trial: tried)
    }
  }

  private static func run(
    _ trial: Trial, _ loaded: LoadedModel, _ explanation: PlanExplanation
  ) throws -> PlanTrial? {
    guard case .onMadeUpInputs(let seed) = trial, loaded.whatIf == nil, loaded.options.plan == nil else { return nil }
    return try PlanTrial.run(
      loaded.context, explanation, loaded.options.request, inputs: loaded.madeUpTensors(seed: seed))
  }
}

extension PlanDocument {
  /// Plans a graph that only a profile knows, on the profile's devices.
  ///
  /// - Parameters:
  ///   - model: its name in the profile; nil where there is but one.
  ///   - configuration: names the profile.
  /// - Throws: `ModelError` where no profile is named, or it holds no such graph.
  package init(ofProfile model: String?, configuration: ModelConfiguration) throws(ModelError) {
    let options = try configuration.options()
    let budget = try configuration.powerBudget()
    guard let profile = options.profile else {
      throw ModelError(.parameters, "a plan without a model needs a profile with the model's graph in it")
    }
    self = try ModelError.wrapping {
      var request = options.request
      let whole = CostSheet(profile)
      let inventory = try DeviceInventory(whatIf: whole, threads: request.threads)
      let planner = try ProfilePlanner(try whole.with(links: options.links, devices: inventory), model: model)
      request.threads = planner.model.threads
      let explanation = try planner.problem(request).explain()
      return PlanDocument(
        planner, of: profile, explanation, planner.plan(explanation, request), request,
        whatIf: WhatIf(profile, inventory: deviceInventory, links: options.links), budget: budget?.text)
    }
  }

  /// Whether a profile holds graphs, so that a plan needs no model file.
  ///
  /// - Throws: `ModelError` where the profile cannot be read.
  package static func canPlan(fromProfile url: URL) throws(ModelError) -> Bool {
    !(try ModelConfiguration.measuredProfile(url.relativePath)).models.isEmpty
  }
}
