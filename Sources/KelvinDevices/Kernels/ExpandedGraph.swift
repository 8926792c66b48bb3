package import KelvinGraph

/// A graph in which some nodes are replaced by equivalent graphs, for example fused nodes by their bodies.
package struct ExpandedGraph: Sendable {
  package private(set) var graph: Graph
  /// For each node of `graph`, the name of the original node that it belongs to.
  package private(set) var parents: [String] = []

  /// - Parameter body: returns a graph on a node's operands that replaces the node, and whose nodes may be replaced
  ///   in turn; nil for a node that stays.
  package init(_ original: Graph, replacing body: (Node, Graph) -> Graph?) {
    graph = original
    graph.nodes = []
    for node in original.nodes { add(node, parent: node.name, body) }
  }

  private mutating func add(_ node: Node, parent: String, _ replacement: (Node, Graph) -> Graph?) {
    guard let body = replacement(node, graph) else {
      graph.nodes.append(node)
      parents.append(parent)
      return
    }
    var address: [ValueID: ValueID] = [:]
    for (inner, outer) in zip(body.inputs, node.inputs) { address[inner] = outer }
    for (inner, outer) in zip(body.outputs, node.outputs) { address[inner] = outer }
    for inner in body.nodes {
      var copy = inner
      copy.name = "\(node.name)/\(inner.name)"
      for id in inner.outputs + inner.inputs where address[id] == nil {
        var value = body[id]
        value.name = "\(node.name)/\(value.name)"
        address[id] = graph.addValue(value)
      }
      copy.inputs = inner.inputs.map { address[$0] ?? $0 }
      copy.outputs = inner.outputs.map { address[$0] ?? $0 }
      add(copy, parent: parent, replacement)
    }
  }
}
