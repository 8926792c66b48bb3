package import KelvinGraph

/// Removes nodes whose results are not read, except impure ones.
package struct RemoveUnusedNodes: Pass {
  package static let name = "remove unused nodes"

  package init() {}

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var edits = GraphEdits(Self.self, graph)
    var needed = Set(graph.results)
    for (index, node) in graph.nodes.enumerated().reversed() {
      if !node.isPure || node.outputs.contains(where: needed.contains) {
        needed.formUnion(node.inputs)
      } else {
        edits.remove(index)
        edits.note(node.origins, "its result is not used", isRemoval: true)
      }
    }
    return edits.finish()
  }
}
