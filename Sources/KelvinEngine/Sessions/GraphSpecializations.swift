import KelvinBasics
import KelvinDevices
import KelvinGraph
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
  private let standard: Mutex<(mixture: CompiledMixture, exclusions: DeviceFallback.Exclusions)?>
  /// The graph of the usual sizes, and its placements before any device failed; nil if sizes depend on data.
  private let usual: (graph: Graph, placements: [Placement])?
  private let specializations: SpecializationCache<Key, CompiledMixture>
  /// The placements between which predictions alternate, by buckets of types.
  private let placements = SpecializationCache<Key, [Placement]>(limit: 32)
  /// The contexts that run the specializations.
  let contexts: ExecutionContextPool
  private let counts: ConditionLock<SpecializationCounts>

  /// - Parameters:
  ///   - mixture: the compiled plans for the usual sizes; nil if they depend on data.
  ///   - limit: the number of other specializations that are kept.
  ///   - counts: receives the costs of sizes other than the usual ones.
  init(
    _ loaded: LoadedModel, index: Int, _ mixture: CompiledMixture?, limit: Int,
    _ counts: ConditionLock<SpecializationCounts>
  ) {
    self.counts = counts
    self.index = index
    self.loaded = loaded
    let contexts = ExecutionContextPool()
    self.contexts = contexts
    mixture?.models.forEach(contexts.add)
    usual = mixture.map { ($0.graph, Placement.alternating($0)) }
    standard = Mutex(mixture.map { ($0, loaded.fallback.exclusions()) })
    specializations = SpecializationCache(limit: limit) { $0.models.forEach(contexts.remove) }
  }

  /// Returns the specialization for these types, made at its first use; only the most recently used are kept. If
  /// predictions alternate between plans, each call takes a turn.
  ///
  /// - Parameter exclusions: the devices and nodes not to use.
  func model(
    _ types: SlotTypes, _ exclusions: DeviceFallback.Exclusions, _ cancellation: Cancellation?
  ) throws -> CompiledModel {
    try mixture(types, exclusions, cancellation).next()
  }

  private func mixture(
    _ types: SlotTypes, _ exclusions: DeviceFallback.Exclusions, _ cancellation: Cancellation?
  ) throws -> CompiledMixture {
    let standard = standard(types, exclusions)
    if let standard, types.fit(standard.graph) { return standard }
    let key = Key(types: types, exclusions: exclusions)
    // A device that failed may have been opened anew since.
    specializations.drop(where: \.isOut)
    return try specializations.value(for: key, cancellation) {
      do {
        let specialized = try loaded.graph(index, for: types, without: exclusions)
        let observer = CompiledModel.Observer(isCancelled: { cancellation?.isCancelled ?? false })
        let placements = try placements(of: specialized, key, standard: standard, cancellation)
        let compiled = try specialized.compile(alternating: placements, observer: observer)
        counts.withLock { $0.compilations += 1 }
        WorkBudget.enter(.predicting)
        compiled.models.forEach(contexts.add)
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
  private func standard(_ types: SlotTypes, _ exclusions: DeviceFallback.Exclusions) -> CompiledMixture? {
    let (kept, dropped) = standard.withLock { standard -> (CompiledMixture?, CompiledMixture?) in
      guard let known = standard else { return (nil, nil) }
      let mixture = known.mixture
      let isTooLarge = mixture.usedDevices.contains {
        exclusions.memory[$0, default: .max] < known.exclusions.memory[$0, default: .max]
      }
      guard !mixture.isOut, !isTooLarge, mixture.usedDevices.isDisjoint(with: exclusions.devices.keys) else {
        guard mixture.isOut || types.fit(mixture.graph) else { return (nil, nil) }
        standard = nil
        return (nil, mixture)
      }
      let isWhole =
        known.exclusions.devices.keys.allSatisfy { exclusions.devices[$0] != nil }
        && known.exclusions.memory.keys.allSatisfy { exclusions.memory[$0] != nil }
      return (isWhole ? mixture : nil, nil)
    }
    dropped?.models.forEach(contexts.remove)
    return kept
  }

  /// Returns the placements of a graph that was built for a key, between which predictions alternate.
  ///
  /// Sizes up to the same power of two form a bucket and share a plan: the plan of the model's usual sizes if the
  /// bucket contains them, else of the first size. If a size of the bucket has other nodes, or a device does not
  /// support one, the size gets its own plan.
  ///
  /// If devices of some plans of a mixture fail, the other plans take their shares, as long as there are several.
  ///
  /// - Parameter standard: the compiled plans for the usual sizes, if there are any.
  /// - Throws: the errors of planning.
  private func placements(
    of graph: LoadedGraph, _ key: Key, standard: CompiledMixture?, _ cancellation: Cancellation?
  ) throws -> [Placement] {
    guard loaded.options.sharesPlans else { return try search(graph) }
    let bucket = Key(types: key.types.bucket, exclusions: key.exclusions)
    let shared = try placements.value(for: bucket, cancellation) {
      if let usual, key.types.of(usual.graph).bucket == bucket.types {
        if standard != nil { return usual.placements }
        let kept = key.exclusions.memory.isEmpty ? usual.placements.filter { graph.fits([$0]) } : []
        if kept.count > 1 { return Placement.sharing(kept) }
      }
      return try search(graph)
    }
    return graph.fits(shared) ? shared : try search(graph)
  }

  private func search(_ graph: LoadedGraph) throws -> [Placement] {
    counts.withLock { $0.plans += 1 }
    return Placement.alternating(try graph.proven().explanation.solution)
  }
}
