package import KelvinGraph

/// What a device is asked to compute: one node, and what is wanted of the result.
package struct KernelRequest: Sendable {
  package let node: Node
  package let graph: Graph
  /// At least this precision is wanted.
  package let precision: Precision
  /// How many threads a CPU device may use.
  package let threads: Int
  /// Whether choices by timing are forbidden, so that results repeat bit for bit.
  package let isDeterministic: Bool
  package let inputs: [TensorType]
  package let outputs: [TensorType]

  package init(
    _ node: Node, in graph: Graph, precision: Precision = .full, threads: Int = 1, isDeterministic: Bool = true
  ) {
    self.node = node
    self.graph = graph
    self.precision = precision
    self.threads = threads
    self.isDeterministic = isDeterministic
    inputs = graph.types(node.inputs)
    outputs = graph.types(node.outputs)
  }

  package func isConstant(_ input: Int) -> Bool { graph[node.inputs[input]].weight != nil }
}
