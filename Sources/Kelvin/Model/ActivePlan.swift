import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinPlanning
import Synchronization

/// The plan of each graph of a model that is run: the given one, or the best that may be run without a trial.
struct TrialedPlans {
  let shown: PlanExplanation
  /// By graph part; nil for what is planned when the function runs.
  let graphs: [PlanExplanation?]
  /// What the user should know where the best plans by prediction are others.
  let remarks: [String]

  /// Those that are known, in the order of their graphs.
  var all: [PlanExplanation] { graphs.contains { $0 != nil } ? graphs.compactMap { $0 } : [shown] }

  /// - Throws: what planning throws.
  init(_ loaded: LoadedModel) throws {
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

/// The plan by which a model runs, which changes when a device fails.
final class ActivePlan: Sendable {
  private struct State {
    var plan: ComputePlan
    /// What it does without.
    var exclusions: DeviceFallback.Exclusions
  }

  private let state: Mutex<State>

  /// - Parameter plan: by which the model was loaded.
  init(_ plan: ComputePlan, of loaded: LoadedModel) {
    state = Mutex(State(plan: plan, exclusions: loaded.fallback.exclusions()))
  }

  func plan(of loaded: LoadedModel) -> ComputePlan {
    let exclusions = loaded.fallback.exclusions()
    return state.withLock { state in
      guard state.exclusions != exclusions else { return state.plan }
      // What cannot be planned any more is told by predictions; the latest plan stands.
      if let plan = try? ComputePlan(loaded, TrialedPlans(loaded).all) { state.plan = plan }
      state.exclusions = exclusions
      return state.plan
    }
  }
}
