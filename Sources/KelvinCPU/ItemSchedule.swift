import KelvinGraph

/// The number of items of a segment that are computed at a time. It is chosen so that a node's results stay in a cache
/// until the next node reads them.
struct ItemSchedule {
  /// The segment's graph for this number of items.
  let graph: Graph
  /// The number of runs for all items.
  let chunks: Int

  init(_ whole: Graph, threads: Int) {
    guard let items = whole.itemCount, let count = Self.count(whole, of: items, threads: threads),
      let part = whole.computing(items: count),
      (whole.inputs + whole.outputs).allSatisfy({
        whole[$0].type.byteCount == items / count * part[$0].type.byteCount
      })
    else {
      (graph, chunks) = (whole, 1)
      return
    }
    (graph, chunks) = (part, items / count)
  }

  /// Returns the items to compute at a time; nil if all at once are best.
  ///
  /// Each chunk reads the weights again. That must not move more bytes than the values between the nodes, which are
  /// read and written once for each item.
  private static func count(_ graph: Graph, of items: Int, threads: Int) -> Int? {
    var (largest, moved) = (0, 0)
    for node in graph.nodes {
      let values = Set(node.inputs + node.outputs).filter { graph[$0].weight == nil }
      let byteCount = values.reduce(0) { $0 + graph[$1].type.byteCount }
      (largest, moved) = (max(largest, byteCount), moved + byteCount)
    }
    guard largest > cacheByteCount else { return nil }
    let divisors = (1..<items).filter { items % $0 == 0 && items / $0 <= mostChunks && $0 >= threads }
    guard let count = divisors.last(where: { largest / items * $0 <= cacheByteCount }) ?? divisors.first else {
      return nil
    }
    let weights = graph.values.reduce(0) { $0 + ($1.weight == nil ? 0 : $1.type.byteCount) }
    return (items / count - 1) * weights <= moved ? count : nil
  }

  /// The share of a cache that one program may expect, since processors and programs share the cache.
  private static let cacheByteCount = 8 << 20
  /// The largest number of chunks. Each has its own tasks in memory.
  private static let mostChunks = 256
}
