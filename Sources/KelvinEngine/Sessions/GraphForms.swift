import KelvinBasics
import KelvinDevices
import KelvinRuntime
import Synchronization

/// The compiled forms of one graph of a model, by the types of its inputs.
final class GraphForms: Sendable {
  /// What a form is compiled for: the types, and the devices that were done without.
  private struct Key: Hashable {
    let types: SlotTypes
    let without: Set<String>
  }

  private let index: Int
  private let loaded: LoadedModel
  /// For the model's usual sizes; nil where they depend on data, and once a device of it is done without.
  private let standard: Mutex<SessionPool?>
  private let specializations: SpecializationCache<Key, SessionPool>
  /// By the devices that are done without: a plan that has one of them serves no size any more.
  private let plans: Mutex<(without: Set<String>, plans: SizePlans)>
  private let lanes: SessionLanes
  private let searches = Mutex(0)

  /// - Parameters:
  ///   - model: the compiled form for the usual sizes; nil where they depend on data.
  ///   - limit: forms that are kept besides it.
  init(_ loaded: LoadedModel, index: Int, _ model: CompiledModel?, limit: Int) {
    self.index = index
    self.loaded = loaded
    let lanes = SessionLanes()
    self.lanes = lanes
    standard = Mutex(model.map { SessionPool($0, lanes) })
    specializations = SpecializationCache(limit: limit)
    plans = Mutex(([], SizePlans(isShared: loaded.options.sharesPlans)))
  }

  /// How often a plan was searched for, the usual sizes' left out.
  var planSearchCount: Int { searches.withLock { $0 } + plans.withLock { $0.plans.searchCount } }

  /// The compiled form for these types, made at their first use and kept for the latest few.
  func pool(_ types: SlotTypes, _ cancellation: Cancellation?) throws -> SessionPool {
    let without = Set(loaded.outages.failures.map(\.device))
    let standard = standard(without)
    if let standard, types.fit(standard.model.graph) { return standard }
    return try specializations.value(for: Key(types: types, without: without), cancellation) {
      do {
        let specialized = try loaded.graph(index, for: types)
        let observer = CompiledModel.Observer(isCancelled: { cancellation?.isCancelled ?? false })
        let placement = try plans(without).placement(
          of: specialized, types, standard: standard?.model, cancellation)
        return SessionPool(try specialized.compile(placement, observer: observer), lanes)
      } catch {
        // This prediction's limit, which is nothing to those that wait for the form: one of them makes it then.
        if WorkBudget.current?.excess != nil { throw RuntimeError.cancelled }
        throw error
      }
    }
  }

  /// Lets the standard form go where it has a device that is done without.
  private func standard(_ without: Set<String>) -> SessionPool? {
    let (kept, dropped) = standard.withLock { standard -> (SessionPool?, SessionPool?) in
      guard let known = standard, !without.isDisjoint(with: known.model.usedDevices) else { return (standard, nil) }
      standard = nil
      return (nil, known)
    }
    // Dropping it may take long: after the lock is released.
    return withExtendedLifetime(dropped) { kept }
  }

  private func plans(_ without: Set<String>) -> SizePlans {
    plans.withLock { plans in
      if plans.without != without {
        searches.withLock { $0 += plans.plans.searchCount }
        plans = (without, SizePlans(isShared: loaded.options.sharesPlans))
      }
      return plans.plans
    }
  }
}
