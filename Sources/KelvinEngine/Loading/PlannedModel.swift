import KelvinGraph
package import KelvinPlanning
package import KelvinRuntime

/// A loaded model with the plan of each graph, ready to be compiled.
package struct PlannedModel: Sendable {
  package let model: LoadedModel
  /// The plan of the shown graph.
  package let shown: PlanExplanation
  /// The plans by graph part; nil for graphs that are planned when the function runs.
  private let plans: [PlanExplanation?]
  /// Remarks for the user: that predictions alternate between plans, or that other plans have a better predicted cost.
  package let remarks: [String]

  /// The known plans, in the order of their graphs.
  package var all: [PlanExplanation] { plans.contains { $0 != nil } ? plans.compactMap { $0 } : [shown] }

  /// - Parameter chosen: the plan of the shown graph. Every other graph, and the shown one unless given, has the plan of
  ///   the options, or else the best plan that may run without a trial.
  /// - Throws: the errors of planning.
  package init(_ model: LoadedModel, shown chosen: PlanExplanation? = nil) throws {
    let (shown, remark) = try chosen.map { ($0, nil) } ?? model.shown.proven()
    var remarks = [remark]
    plans = try model.graphs.map { graph in
      try graph.map { graph in
        if graph.part.name == model.shown.part.name { return shown }
        let (plan, remark) = try graph.proven()
        remarks.append(remark)
        return plan
      }
    }
    self.model = model
    self.shown = shown
    self.remarks = remarks.compactMap { $0 }
  }

  /// Compiles the known graphs.
  ///
  /// - Returns: the compiled plans of the graphs by part; nil for a graph that is compiled when the function runs.
  package func compiled(observer: CompiledModel.Observer = .init()) throws -> [CompiledMixture?] {
    let compiled = try model.shown.compile(alternating: Placement.alternating(shown.solution), observer: observer)
    return try zip(model.graphs, plans).map { graph, plan in
      guard let graph, let plan else { return nil }
      if graph.part.name == model.shown.part.name { return compiled }
      return try graph.compile(
        alternating: Placement.alternating(plan.solution), observer: .init(isCancelled: observer.isCancelled))
    }
  }

  /// Compiles the known graphs, and returns a predictor of them.
  ///
  /// - Parameter specializationLimit: the number of other specializations of each graph that are kept.
  package func predictor(
    specializationLimit: Int, observer: CompiledModel.Observer = .init()
  ) throws -> Predictor {
    Predictor(model, try compiled(observer: observer), specializationLimit: specializationLimit)
  }
}
