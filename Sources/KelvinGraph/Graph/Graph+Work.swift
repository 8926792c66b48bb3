/// The work of one evaluation of a node, for cost estimates.
package struct Work: Hashable, Sendable {
  /// The number of floating-point operations; a multiply-add counts as two.
  package var operations: Double
  /// The number of bytes of inputs, weights and outputs, each counted once.
  package var bytes: Double

  package init(operations: Double, bytes: Double) {
    self.operations = operations
    self.bytes = bytes
  }
}

extension Graph {
  package func work(of node: Node) -> Work {
    let bytes = Set(node.inputs + node.outputs).reduce(0) { $0 + self[$1].type.byteCount }
    return Work(operations: node.op.operations(types(node.inputs), types(node.outputs)), bytes: Double(bytes))
  }
}
