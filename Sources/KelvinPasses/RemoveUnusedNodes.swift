package import KelvinGraph

/// Removes nodes whose results nobody reads.
package struct RemoveUnusedNodes: Pass {
  package static let name = "remove unused nodes"

  package init() {}

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var edits = GraphEdits(Self.self, graph)
    var needed = Set(graph.outputs)
    for (index, node) in graph.nodes.enumerated().reversed() {
      if node.outputs.contains(where: needed.contains) {
        needed.formUnion(node.inputs)
      } else {
        edits.remove(index)
        edits.note(node.origins, "nobody reads its result", isRemoval: true)
      }
    }
    return edits.finish()
  }
}
