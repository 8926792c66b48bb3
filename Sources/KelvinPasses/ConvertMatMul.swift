package import KelvinGraph

/// Turns a matrix product with a constant matrix into a `Linear`, whose weights devices pack.
package struct ConvertMatMul: Pass {
  package static let name = "convert matmul"

  package init() {}

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var edits = GraphEdits(Self.self, graph)
    for (index, node) in graph.nodes.enumerated() {
      guard let product = node.op as? MatMul, !product.transposesX, let weight = edits.weight(node.inputs[1]),
        weight.type.shape.rank == 2
      else { continue }
      var weights = node.inputs[1]
      if !product.transposesY {
        weights = edits.addWeight("\(node.name)#transposed_weights", weight.transposed([1, 0]))
      }
      let inputs = [node.inputs[0], weights]
      edits.rewrite(
        index,
        try .decomposable(
          name: node.name, op: Linear(), inputs: inputs, types: inputs.map(edits.type), output: node.outputs[0],
          origins: node.origins))
      edits.note(node.origins, "a product by a constant matrix is a linear layer")
    }
    return edits.finish()
  }
}
