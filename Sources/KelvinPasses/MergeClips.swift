package import KelvinGraph

/// Replaces a chain of clips and negations by a single clip. Networks without a bounded activation express
/// `min(max(x, 0), 6)` as `-max(-max(x, 0), -6)`, in four steps.
package struct MergeClips: Pass {
  package static let name = "merge clips"

  package init() {}

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var edits = GraphEdits(Self.self, graph)
    for (index, original) in graph.nodes.enumerated().reversed() {
      guard let node = edits.node(index), let last = Bounds(node), original.inputs.count == 1 else { continue }
      var bounds = last
      var chain: [Int] = []
      var best: (function: UnaryFunction, length: Int)?
      var value = node.inputs[0]
      while let producer = edits.producer(of: value), edits.onlyConsumer(of: value) != nil,
        let inner = edits.node(producer), let function = Bounds(inner)
      {
        chain.append(producer)
        bounds = bounds.after(function)
        if let whole = bounds.function { best = (whole, chain.count) }
        value = inner.inputs[0]
      }
      guard let best else { continue }
      var fused = node
      fused.op = Unary(best.function)
      let merged = chain.prefix(best.length).reversed().compactMap { edits.node($0) }
      fused.inputs = merged[0].inputs
      fused.origins = merged.flatMap(\.origins) + node.origins
      for producer in chain.prefix(best.length) { edits.remove(producer) }
      edits.rewrite(index, fused)
      edits.note(fused.origins, "together they are \(best.function)")
    }
    return edits.finish()
  }
}

/// `min(max(x, lower), upper)`, or its negative.
private struct Bounds {
  var lower: Float
  var upper: Float
  var isNegated: Bool

  /// Returns nil if the node is another function.
  init?(_ node: Node) {
    guard let function = (node.op as? Unary)?.function else { return nil }
    (lower, upper, isNegated) = (-.infinity, .infinity, false)
    switch function.kind {
    case .relu: lower = 0
    case .clip where function.a <= function.b: (lower, upper) = (function.a, function.b)
    case .affine where function.b == 0 && abs(function.a) == 1: isNegated = function.a < 0
    case .negate: isNegated = true
    default: return nil
    }
  }

  /// Returns this function applied to the result of another.
  func after(_ inner: Bounds) -> Bounds {
    let (low, high) = inner.isNegated ? (-upper, -lower) : (lower, upper)
    var result = inner
    result.lower = min(max(inner.lower, low), high)
    result.upper = min(max(inner.upper, low), high)
    result.isNegated = isNegated != inner.isNegated
    return result
  }

  /// The function as one operator, or nil if there is none.
  var function: UnaryFunction? {
    if isNegated { return lower == -.infinity && upper == .infinity ? UnaryFunction(.affine, a: -1) : nil }
    return lower == 0 && upper == .infinity ? .relu : .clip(lower, upper)
  }
}
