package import KelvinGraph

/// Fuses the normalization of a few rows into the linear layer that alone reads them. A decoder's token is one row, and
/// each kernel that it saves is a wait for the one before.
package struct FuseNormalization: Pass {
  package static let name = "fuse normalization"

  /// Groups of a kernel would compute the statistics of more rows too often.
  private static let mostRows = 4

  package init() {}

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var edits = GraphEdits(Self.self, graph)
    for index in graph.nodes.indices {
      guard let node = edits.node(index), let norm = node.op as? LayerNormalization,
        let next = edits.onlyConsumer(of: node.outputs[0]), let product = edits.node(next)
      else { continue }
      try fuse(norm, node, at: index, product, at: next, &edits)
    }
    return edits.finish()
  }

  private func fuse(
    _ norm: LayerNormalization, _ node: Node, at index: Int, _ product: Node, at next: Int, _ edits: inout GraphEdits
  ) throws(GraphError) {
    let shape = edits.type(node.inputs[0]).shape
    let rows = shape.dimensions.dropLast().reduce(1, *)
    guard let linear = product.op as? Linear, norm.axis == shape.rank - 1, (1...Self.mostRows).contains(rows),
      product.inputs[0] == node.outputs[0], !product.inputs[1...].contains(node.outputs[0]),
      node.inputs[1...].allSatisfy({ edits.weight($0) != nil }),
      // Compressed weights stay operands of a layer that devices unpack them for.
      let weights = edits.weight(product.inputs[1]), !weights.isCompressed
    else { return }
    let op = NormalizedLinear(
      epsilon: norm.epsilon, isCentered: norm.isCentered, parameters: node.inputs.count - 1, epilogue: linear.epilogue)
    let inputs = [node.inputs[0], product.inputs[1]] + node.inputs[1...] + product.inputs[2...]
    let origins = node.origins + product.origins
    edits.remove(index)
    edits.rewrite(
      next,
      try .decomposable(
        name: product.name, op: op, inputs: inputs, types: inputs.map(edits.type), output: product.outputs[0],
        origins: origins))
    edits.note(origins, "fused, because there are only a few rows")
  }
}
