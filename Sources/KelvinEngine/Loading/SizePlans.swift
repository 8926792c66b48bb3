import KelvinGraph
import KelvinPlanning
import KelvinRuntime
import Synchronization

/// Where the nodes of one graph run, for all the sizes that it is specialised for.
///
/// Sizes up to the same power of two are a bucket and share a plan: that of the model's usual sizes where they are
/// among them, else of the first that came. A plan that does not fit a size of its bucket, because the graph has other
/// nodes there or a device does not run one of them, is left aside and the size gets its own.
final class SizePlans: Sendable {
  private let isShared: Bool
  private let plans: SpecializationCache<SlotTypes, Placement>
  private let searches = Mutex(0)
  /// Buckets whose plans are kept.
  private static let limit = 32

  /// - Parameter isShared: whether the sizes of a bucket share a plan.
  init(isShared: Bool) {
    self.isShared = isShared
    plans = SpecializationCache(limit: Self.limit)
  }

  /// How often a plan was searched for.
  var searchCount: Int { searches.withLock { $0 } }

  /// The placement of a graph that was built for `types`.
  ///
  /// - Parameter standard: the compiled form for the model's usual sizes, where there is one.
  /// - Throws: what planning throws.
  func placement(
    of graph: LoadedGraph, _ types: SlotTypes, standard: CompiledModel?, _ cancellation: Cancellation?
  ) throws -> Placement {
    guard isShared else { return try search(graph) }
    let shared = try plans.value(for: types.bucket, cancellation) {
      if let standard, types.of(standard.graph).bucket == types.bucket { return Placement(standard) }
      return try search(graph)
    }
    return graph.fits(shared) ? shared : try search(graph)
  }

  private func search(_ graph: LoadedGraph) throws -> Placement {
    searches.withLock { $0 += 1 }
    return Placement(try graph.proven().explanation.solution)
  }
}
