package import KelvinGraph

/// Removes a transposition of the last two axes before a matrix product, which can read its operand transposed. The
/// pass applies if the rest of the transposition moves whole rows or nothing.
package struct FoldTranspositions: Pass {
  package static let name = "fold transpositions"

  package init() {}

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var edits = GraphEdits(Self.self, graph)
    for (index, node) in graph.nodes.enumerated() {
      guard var product = node.op as? MatMul else { continue }
      for place in 0..<2 {
        // Without its transposition an operand may be the value that the other one is transposed from.
        var changed = edits.node(index) ?? node
        guard changed.inputs[0] != changed.inputs[1] else { break }
        guard let producer = edits.producer(of: node.inputs[place]), var transposition = edits.node(producer),
          let transpose = transposition.op as? Transpose, edits.onlyConsumer(of: node.inputs[place]) == index
        else { continue }
        var permutation = transpose.permutation
        let last = permutation.count - 1
        guard last >= 1, permutation[last - 1] == last else { continue }
        permutation.swapAt(last - 1, last)
        if place == 0 { product.transposesX.toggle() } else { product.transposesY.toggle() }
        changed.op = product
        if permutation == Array(0...last) {
          changed.inputs[place] = transposition.inputs[0]
          changed.origins = transposition.origins + changed.origins
          edits.remove(producer)
          edits.note(transposition.origins, "the product reads its operand transposed", isRemoval: true)
        } else {
          let type = edits.type(transposition.inputs[0])
          let moved = edits.addValue(
            "\(transposition.name)#rows",
            TensorType(type.scalar, Shape(permutation.map { type.shape[$0] })))
          transposition.op = Transpose(permutation)
          transposition.outputs = [moved]
          changed.inputs[place] = moved
          edits.rewrite(producer, transposition)
          edits.note(transposition.origins, "moves rows; the product exchanges the last two axes")
        }
        edits.rewrite(index, changed)
      }
    }
    return edits.finish()
  }
}
