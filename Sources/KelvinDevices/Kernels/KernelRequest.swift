package import KelvinGraph

/// A request for kernels: one node, and the requirements of the result.
package struct KernelRequest: Sendable {
  package let node: Node
  package let graph: Graph
  /// The minimum precision.
  package let precision: Precision
  /// The number of threads that a CPU device may use.
  package let threads: Int
  /// Whether choices by timing are forbidden, so that results are bit-identical across runs.
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
