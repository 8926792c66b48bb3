package import KelvinGraph

/// Replaces nodes whose inputs are all weights by weights that are computed on demand.
package struct FoldConstants: Pass {
  package static let name = "fold constants"
  let evaluator: any ConstantEvaluator
  private let keepsDequantization: Bool
  /// The greatest length of a chain of weights that are computed from each other; computing one recurses along its
  /// chain.
  private static let depthLimit = 32
  /// The number of bytes by which all folded weights together may exceed eight times their source weights.
  private static let growthLimit = 1 << 26
  /// The number of operations by which the computation of all folded weights may exceed 64 for each source element. A
  /// node that would exceed the limit stays, and a device executes it.
  private static let workLimit = 0x1p30

  /// Creates the pass.
  ///
  /// - Parameter keepsDequantization: Whether dequantized constants stay nodes, for passes that look for integer
  ///   weights.
  package init(evaluator: any ConstantEvaluator, keepsDequantization: Bool = false) {
    self.evaluator = evaluator
    self.keepsDequantization = keepsDequantization
  }

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var edits = GraphEdits(Self.self, graph)
    var depths: [ValueID: Int] = [:]
    var growth = 0
    var work = 0.0
    for (index, node) in graph.nodes.enumerated() where node.outputs.count == 1 && node.regions.isEmpty && node.isPure {
      guard !edits.isOutput(node.outputs[0]), !(keepsDequantization && node.op is Dequantize),
        !isFilled(node, forUpdatesIn: edits)
      else { continue }
      let inputs = node.inputs.map(edits.resolve)
      let weights = inputs.compactMap { edits.weight($0) }
      let depth = inputs.reduce(0) { max($0, depths[$1] ?? 0) }
      guard weights.count == node.inputs.count, !weights.isEmpty, depth < Self.depthLimit else { continue }
      let type = edits.type(node.outputs[0])
      let added = max(0, type.byteCount - 8 * weights.reduce(0) { $0 + $1.type.byteCount })
      let operations = node.op.operations(weights.map(\.type), [type])
      let excess = max(0, operations - 64 * weights.reduce(0) { $0 + Double($1.type.count) })
      guard growth + added <= Self.growthLimit, work + excess <= Self.workLimit else { continue }
      growth += added
      work += excess
      let folded = folded(node, weights, type, isLong: excess > 0)
      let constant = edits.addWeight("\(graph[node.outputs[0]].name)#folded", folded)
      depths[constant] = depth + 1
      edits.remove(index, replacement: constant)
      edits.note(node.origins, "computed once: its inputs are constant", isRemoval: true)
    }
    return edits.finish()
  }

  /// Whether a node fills a tensor with one element for a scatter at run time. A device updates that memory in place, and
  /// would have to copy a weight.
  private func isFilled(_ node: Node, forUpdatesIn edits: GraphEdits) -> Bool {
    guard node.op is Expand, edits.type(node.inputs[0]).count == 1,
      let scatter = edits.onlyConsumer(of: node.outputs[0]).flatMap(edits.node),
      scatter.op is ScatterElements || scatter.op is ScatterND, scatter.inputs[0] == node.outputs[0]
    else { return false }
    return edits.isOutput(scatter.outputs[0]) || scatter.inputs[1...].contains { edits.weight($0) == nil }
  }

  /// Returns the weight that a node computes from weights. A slice is a part of its weight, and the rest is not read: a
  /// decoder may read one row of a mask that has one for each possible position.
  private func folded(_ node: Node, _ weights: [Weight], _ type: TensorType, isLong: Bool) -> Weight {
    if let slice = node.op as? Slice, let part = weights[0].sliced(slice) { return part }
    return Weight(type, from: weights, isLong: isLong) { [evaluator] in
      let inputs = weights.map { $0.dense() }
      // Type inference succeeded when the graph was built, so that evaluation cannot fail.
      guard let result = try? evaluator.evaluate(node.op, inputs).first else {
        preconditionFailure("\(node.op.name) '\(node.name)' cannot be evaluated")
      }
      return result
    }
  }
}
