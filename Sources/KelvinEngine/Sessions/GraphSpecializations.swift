import KelvinBasics
import KelvinDevices
import KelvinPlanning
import KelvinRuntime
import Synchronization

/// The specializations of one graph of a model, by the types of its inputs.
final class GraphSpecializations: Sendable {
  /// The key of a specialization: the types and the exclusions it was compiled for.
  private struct Key: Hashable {
    let types: SlotTypes
    let exclusions: DeviceFallback.Exclusions
  }

  private let index: Int
  private let loaded: LoadedModel
  /// The specialization for the usual sizes, and the exclusions when it was compiled; nil if sizes depend on data, or
  /// once one of its devices is excluded.
  private let standard: Mutex<(model: CompiledModel, exclusions: DeviceFallback.Exclusions)?>
  private let specializations: SpecializationCache<Key, CompiledModel>
  /// The placements, by buckets of types.
  private let placements = SpecializationCache<Key, Placement>(limit: 32)
  /// The contexts that run the specializations.
  let contexts: ExecutionContextPool
  private let counts: ConditionLock<SpecializationCounts>

  /// - Parameters:
  ///   - model: the compiled model for the usual sizes; nil if they depend on data.
  ///   - limit: the number of other specializations that are kept.
  ///   - counts: receives the costs of sizes other than the usual ones.
  init(
    _ loaded: LoadedModel, index: Int, _ model: CompiledModel?, limit: Int,
    _ counts: ConditionLock<SpecializationCounts>
  ) {
    self.counts = counts
    self.index = index
    self.loaded = loaded
    let contexts = ExecutionContextPool()
    self.contexts = contexts
    if let model { contexts.add(model) }
    standard = Mutex(model.map { ($0, loaded.fallback.exclusions()) })
    specializations = SpecializationCache(limit: limit, didEvict: contexts.remove)
  }

  /// Returns the specialization for these types, made at its first use; only the most recently used are kept.
  ///
  /// - Parameter exclusions: the devices and nodes not to use.
  func model(
    _ types: SlotTypes, _ exclusions: DeviceFallback.Exclusions, _ cancellation: Cancellation?
  ) throws -> CompiledModel {
    let standard = standard(types, exclusions)
    if let standard, types.fit(standard.graph) { return standard }
    let key = Key(types: types, exclusions: exclusions)
    // A device that failed may have been opened anew since.
    specializations.drop(where: \.isOut)
    return try specializations.value(for: key, cancellation) {
      do {
        let specialized = try loaded.graph(index, for: types, without: exclusions)
        let observer = CompiledModel.Observer(isCancelled: { cancellation?.isCancelled ?? false })
        let placement = try placement(of: specialized, key, standard: standard, cancellation)
        let compiled = try specialized.compile(placement, observer: observer)
        counts.withLock { $0.compilations += 1 }
        WorkBudget.enter(.predicting)
        contexts.add(compiled)
        return compiled
      } catch {
        // The limit of this prediction must not fail others that wait for the specialization: one of them then makes
        // it.
        if WorkBudget.current?.excess != nil { throw RuntimeError.cancelled }
        throw error
      }
    }
  }

  /// Returns the specialization for the usual sizes, unless it uses an excluded device, or was made without a device
  /// that is available again. It is dropped if one of its devices has failed, or had not enough memory for these
  /// sizes.
  private func standard(_ types: SlotTypes, _ exclusions: DeviceFallback.Exclusions) -> CompiledModel? {
    let (kept, dropped) = standard.withLock { standard -> (CompiledModel?, CompiledModel?) in
      guard let known = standard else { return (nil, nil) }
      let model = known.model
      guard !model.isOut, model.usedDevices.isDisjoint(with: exclusions.devices.keys) else {
        guard model.isOut || types.fit(model.graph) else { return (nil, nil) }
        standard = nil
        return (nil, model)
      }
      let isWhole = known.exclusions.devices.keys.allSatisfy { exclusions.devices[$0] != nil }
      return (isWhole ? model : nil, nil)
    }
    if let dropped { contexts.remove(dropped) }
    return kept
  }

  /// Returns the placement of a graph that was built for a key.
  ///
  /// Sizes up to the same power of two form a bucket and share a plan: the plan of the model's usual sizes if the
  /// bucket contains them, else of the first size. If a size of the bucket has other nodes, or a device does not
  /// support one, the size gets its own plan.
  ///
  /// - Parameter standard: the compiled model for the usual sizes, if there is one.
  /// - Throws: the errors of planning.
  private func placement(
    of graph: LoadedGraph, _ key: Key, standard: CompiledModel?, _ cancellation: Cancellation?
  ) throws -> Placement {
    guard loaded.options.sharesPlans else { return try search(graph) }
    let bucket = Key(types: key.types.bucket, exclusions: key.exclusions)
    let shared = try placements.value(for: bucket, cancellation) {
      if let standard, key.types.of(standard.graph).bucket == bucket.types { return Placement(standard) }
      return try search(graph)
    }
    return graph.fits(shared) ? shared : try search(graph)
  }

  private func search(_ graph: LoadedGraph) throws -> Placement {
    counts.withLock { $0.plans += 1 }
    return Placement(try graph.proven().explanation.solution)
  }
}
