package import KelvinGraph

/// Removes nodes that return their input unchanged, and replaces transpositions that do not move elements by reshapes.
package struct RemoveIdentities: Pass {
  package static let name = "remove identities"

  package init() {}

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var edits = GraphEdits(Self.self, graph)
    for (index, node) in graph.nodes.enumerated() {
      if let transpose = node.op as? Transpose, !isIdentity(node, graph),
        keepsOrder(transpose, graph[node.inputs[0]].type)
      {
        var changed = node
        changed.op = Reshape(graph[node.outputs[0]].type.shape)
        edits.rewrite(index, changed)
        edits.note(node.origins, "leaves every element where it is")
        continue
      }
      // An output keeps its node: a graph's output is always computed, never one of its inputs.
      guard node.outputs.count == 1, !edits.isOutput(node.outputs[0]), isIdentity(node, graph) else { continue }
      edits.remove(index, replacement: edits.resolve(node.inputs[0]))
      edits.note(node.origins, "returns its input unchanged", isRemoval: true)
    }
    return edits.finish()
  }

  /// Whether axes of more than one element keep their order.
  private func keepsOrder(_ transpose: Transpose, _ type: TensorType) -> Bool {
    let moved = transpose.permutation.filter { type.shape[$0] != 1 }
    return moved == moved.sorted()
  }

  private func isIdentity(_ node: Node, _ graph: Graph) -> Bool {
    guard let first = node.inputs.first, graph[first].type == graph[node.outputs[0]].type else { return false }
    switch node.op {
    case is Reshape, is Cast, is Expand: return true
    case let transpose as Transpose: return transpose.permutation == Array(0..<transpose.permutation.count)
    case let slice as Slice: return slice.steps.allSatisfy { $0 == 1 }
    case is Pad, is Concat: return true
    case let unary as Unary: return unary.function == UnaryFunction(.affine, a: 1, b: 0)
    default: return false
    }
  }
}
