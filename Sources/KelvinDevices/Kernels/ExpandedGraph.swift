package import KelvinGraph

/// A graph in which some fused nodes have been replaced by their bodies.
package struct ExpandedGraph: Sendable {
  package let graph: Graph
  /// For each node of `graph`, the name of the node it stands for in the original.
  package let parents: [String]

  /// - Parameter expands: whether a node that has a body is replaced by it.
  package init(_ original: Graph, where expands: (Node) -> Bool) {
    var graph = original
    graph.nodes = []
    var parents: [String] = []
    for node in original.nodes {
      guard let body = node.body, expands(node) else {
        graph.nodes.append(node)
        parents.append(node.name)
        continue
      }
      var address: [ValueID: ValueID] = [:]
      for (inner, outer) in zip(body.inputs, node.inputs) { address[inner] = outer }
      for (inner, outer) in zip(body.outputs, node.outputs) { address[inner] = outer }
      for inner in body.nodes {
        var copy = inner
        copy.name = "\(node.name)/\(inner.name)"
        for output in inner.outputs where address[output] == nil {
          var value = body[output]
          value.name = "\(node.name)/\(value.name)"
          address[output] = graph.addValue(value)
        }
        copy.inputs = inner.inputs.map { id in
          if let outer = address[id] { return outer }
          var value = body[id]
          value.name = "\(node.name)/\(value.name)"
          let outer = graph.addValue(value)
          address[id] = outer
          return outer
        }
        copy.outputs = inner.outputs.map { address[$0] ?? $0 }
        graph.nodes.append(copy)
        parents.append(node.name)
      }
    }
    self.graph = graph
    self.parents = parents
  }
}
