package import KelvinGraph

/// Fuses the residual addition and the activation that follow a convolution or linear layer into its epilogue, so that
/// the result is stored once.
package struct FuseEpilogue: Pass {
  package static let name = "fuse epilogue"

  package init() {}

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var edits = GraphEdits(Self.self, graph)
    for index in graph.nodes.indices {
      guard let node = edits.node(index), let op = node.op as? any FusedOperator, !op.epilogue.isFused else { continue }
      try fuse(op, node, at: index, in: graph, &edits)
    }
    return edits.finish()
  }

  private func fuse(
    _ op: some FusedOperator, _ node: Node, at index: Int, in graph: Graph, _ edits: inout GraphEdits
  ) throws(GraphError) {
    var (op, inputs, origins, place, output) = (op, node.inputs, node.origins, index, node.outputs[0])
    let type = edits.type(output)
    if let next = edits.onlyConsumer(of: output), let follower = edits.node(next),
      (follower.op as? Binary)?.function == .add, let other = follower.inputs.first(where: { $0 != output }),
      edits.type(other) == type, edits.weight(other) == nil
    {
      // Of two branches that the addition joins, the one that is computed last absorbs it; the other's result is the
      // residual.
      if (edits.producer(of: other) ?? -1) < index {
        op.epilogue.addsResidual = true
        inputs.append(other)
        origins += follower.origins
        edits.remove(place)
        (place, output) = (next, follower.outputs[0])
      }
    }
    if let next = edits.onlyConsumer(of: output), let follower = edits.node(next), let unary = follower.op as? Unary {
      op.epilogue.activation = unary.function
      origins += follower.origins
      edits.remove(place)
      (place, output) = (next, follower.outputs[0])
    }
    guard op.epilogue.isFused else { return }
    let fused = try Node.decomposable(
      name: node.name, op: op, inputs: inputs, types: inputs.map(edits.type), output: output, origins: origins)
    edits.rewrite(place, fused)
    edits.note(origins, "fused, so that the result is stored once")
  }
}
