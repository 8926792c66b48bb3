import KelvinGraph

/// How many items of a segment are computed at a time: as many as leave what a node computes in a cache until the next
/// one reads it, rather than all of them node by node.
struct ItemSchedule {
  /// The segment's, for so many items.
  let graph: Graph
  /// How often it is run for all of them.
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

  /// The items to compute at a time; nil where all of them at once are best.
  ///
  /// Weights are read anew for every chunk, where all at once need them only once: that must not take more than the
  /// values between the nodes do, which are read and written once for each item.
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

  /// What one program may count on of a cache that processors and programs share.
  private static let cacheByteCount = 8 << 20
  /// Each has tasks of its own in memory.
  private static let mostChunks = 256
}
