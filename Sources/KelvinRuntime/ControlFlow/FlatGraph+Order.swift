import KelvinGraph

extension FlatGraph {
  /// Sorts the nodes of a plan or profile in the model's order: states first, and each branch or loop before the
  /// nodes in it.
  package func inOrder<Node>(_ nodes: [Node], name: (Node) -> String) -> [Node] {
    var ranks: [String: (position: Int, order: Int)] = [:]
    for (index, node) in graph.nodes.enumerated() { ranks[node.name] = (index, controls.count) }
    for (order, control) in controls.enumerated() { ranks[control.name] = (control.position, order) }
    for (index, source) in sources.enumerated() { ranks[source.name] = (-1, index) }
    return nodes.sorted { (ranks[name($0)] ?? (Int.max, 0)) < (ranks[name($1)] ?? (Int.max, 0)) }
  }
}
