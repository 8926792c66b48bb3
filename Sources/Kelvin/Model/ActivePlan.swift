import KelvinDevices
package import KelvinEngine
import KelvinGraph
package import KelvinPlanning
import Synchronization

/// The plan of each graph of a model: the given plan, or the best plan that may run without a trial.
package struct TrialedPlans {
  package let shown: PlanExplanation
  /// The plans, by graph part; nil for graphs that are planned when the function runs.
  package let graphs: [PlanExplanation?]
  /// Messages for the user if other plans have a better predicted cost.
  package let remarks: [String]

  /// The known plans, in the order of their graphs.
  package var all: [PlanExplanation] { graphs.contains { $0 != nil } ? graphs.compactMap { $0 } : [shown] }

  /// - Throws: errors of planning.
  package init(_ loaded: LoadedModel) throws {
    let (explanation, remark) = try loaded.shown.proven()
    var remarks = [remark]
    graphs = try loaded.graphs.map { graph in
      try graph.map { graph in
        if graph.part.name == loaded.shown.part.name { return explanation }
        let (explanation, remark) = try graph.proven()
        remarks.append(remark)
        return explanation
      }
    }
    shown = explanation
    self.remarks = remarks.compactMap { $0 }
  }
}

/// The plan that a model currently runs, which changes when a device fails.
final class ActivePlan: Sendable {
  private struct State {
    var plan: ComputePlan
    /// The devices that the plan excludes.
    var exclusions: DeviceFallback.Exclusions
  }

  private let state: Mutex<State>

  /// - Parameter plan: the plan that the model was loaded with.
  init(_ plan: ComputePlan, of loaded: LoadedModel) {
    state = Mutex(State(plan: plan, exclusions: loaded.fallback.exclusions()))
  }

  package func plan(of loaded: LoadedModel) -> ComputePlan {
    let exclusions = loaded.fallback.exclusions()
    return state.withLock { state in
      guard state.exclusions != exclusions else { return state.plan }
      // If planning fails, the previous plan stays, and the next prediction reports the error.
      if let plan = try? ComputePlan(loaded, TrialedPlans(loaded).all) { state.plan = plan }
      state.exclusions = exclusions
      return state.plan
    }
  }
}
