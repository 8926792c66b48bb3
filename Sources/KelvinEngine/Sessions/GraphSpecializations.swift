import KelvinBasics
import KelvinDevices
import KelvinRuntime
import Synchronization

/// The compiled forms of one graph of a model, by the types of its inputs.
final class GraphSpecializations: Sendable {
  /// What a form is compiled for: the types, and what was done without.
  private struct Key: Hashable {
    let types: SlotTypes
    let exclusions: DeviceFallback.Exclusions
  }

  private struct Standard {
    let pool: SessionPool
    /// What was absent when it was compiled.
    let exclusions: DeviceFallback.Exclusions
  }

  private let index: Int
  private let loaded: LoadedModel
  /// For the model's usual sizes; nil where they depend on data, and once a device of it is done without.
  private let standard: Mutex<Standard?>
  private let specializations: SpecializationCache<Key, SessionPool>
  /// By what is done without, the latest few: a plan that has something of it serves no size.
  private let plans: Mutex<[(exclusions: DeviceFallback.Exclusions, plans: SizePlans)]>
  private static let exclusionsLimit = 2
  private let lanes: ExecutionContextPool
  /// Plans that were searched for without what is done without no more, and all compilations.
  private let counts = Mutex(SpecializationCounts())

  /// - Parameters:
  ///   - model: the compiled form for the usual sizes; nil where they depend on data.
  ///   - limit: forms that are kept besides it.
  init(_ loaded: LoadedModel, index: Int, _ model: CompiledModel?, limit: Int) {
    self.index = index
    self.loaded = loaded
    let lanes = ExecutionContextPool()
    self.lanes = lanes
    standard = Mutex(model.map { Standard(pool: SessionPool($0, lanes), exclusions: loaded.fallback.exclusions()) })
    specializations = SpecializationCache(limit: limit)
    plans = Mutex([])
  }

  /// What sizes besides the usual ones have cost.
  var specializationCounts: SpecializationCounts {
    counts.withLock { $0 } + SpecializationCounts(plans: plans.withLock { $0.reduce(0) { $0 + $1.plans.searchCount } })
  }

  /// The compiled form for these types, made at their first use and kept for the latest few.
  ///
  /// - Parameter exclusions: what it does without.
  func pool(_ types: SlotTypes, _ exclusions: DeviceFallback.Exclusions, _ cancellation: Cancellation?) throws -> SessionPool {
    let standard = standard(types, exclusions)
    if let standard, types.fit(standard.model.graph) { return standard }
    return try specializations.value(for: Key(types: types, exclusions: exclusions), cancellation) {
      do {
        let specialized = try loaded.graph(index, for: types, without: exclusions)
        let observer = CompiledModel.Observer(isCancelled: { cancellation?.isCancelled ?? false })
        let placement = try plans(exclusions).placement(
          of: specialized, types, standard: standard?.model, cancellation)
        let compiled = try specialized.compile(placement, observer: observer)
        counts.withLock { $0.compilations += 1 }
        WorkBudget.enter(.predicting)
        return SessionPool(compiled, lanes)
      } catch {
        // This prediction's limit, which is nothing to those that wait for the form: one of them makes it then.
        if WorkBudget.current?.excess != nil { throw RuntimeError.cancelled }
        throw error
      }
    }
  }

  /// The form for the usual sizes, where it has no device that is done without, nor was made without one that is there
  /// again. It goes where a device of it is out, or had no memory for these very sizes.
  private func standard(_ types: SlotTypes, _ exclusions: DeviceFallback.Exclusions) -> SessionPool? {
    let (kept, dropped) = standard.withLock { standard -> (SessionPool?, SessionPool?) in
      guard let known = standard else { return (nil, nil) }
      let model = known.pool.model
      guard model.usedDevices.isDisjoint(with: exclusions.devices.keys) else {
        guard model.isOut || types.fit(model.graph) else { return (nil, nil) }
        standard = nil
        return (nil, known.pool)
      }
      let isWhole = known.exclusions.devices.keys.allSatisfy { exclusions.devices[$0] != nil }
      return (isWhole ? known.pool : nil, nil)
    }
    // Dropping it may take long: after the lock is released.
    return withExtendedLifetime(dropped) { kept }
  }

  private func plans(_ exclusions: DeviceFallback.Exclusions) -> SizePlans {
    plans.withLock { plans in
      if let known = plans.first(where: { $0.exclusions == exclusions }) { return known.plans }
      let made = SizePlans(isShared: loaded.options.sharesPlans)
      plans.append((exclusions, made))
      while plans.count > Self.exclusionsLimit {
        let dropped = plans.removeFirst()
        counts.withLock { $0.plans += dropped.plans.searchCount }
      }
      return made
    }
  }
}
