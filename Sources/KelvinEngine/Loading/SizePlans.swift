import KelvinGraph
import KelvinPlanning
import KelvinRuntime
import Synchronization

/// The placements of one graph for all the sizes that it is specialized for.
///
/// Sizes up to the same power of two form a bucket and share a plan: the plan of the model's usual sizes if the
/// bucket contains them, else of the first size. If a size of the bucket has other nodes, or a device does not
/// support one, the size gets its own plan.
final class SizePlans: Sendable {
  private let isShared: Bool
  private let plans: SpecializationCache<SlotTypes, Placement>
  private let searches = Mutex(0)
  /// The number of buckets whose plans are kept.
  private static let limit = 32

  /// - Parameter isShared: whether the sizes of a bucket share a plan.
  init(isShared: Bool) {
    self.isShared = isShared
    plans = SpecializationCache(limit: Self.limit)
  }

  /// The number of searches for a plan.
  var searchCount: Int { searches.withLock { $0 } }

  /// Returns the placement of a graph that was built for `types`.
  ///
  /// - Parameter standard: the compiled model for the usual sizes, if there is one.
  /// - Throws: the errors of planning.
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
