/// The work of one evaluation of a node, for cost estimates.
package struct Work: Hashable, Sendable {
  /// The number of floating-point operations; a multiply-add counts as two.
  package var operations: Double
  /// The number of bytes of inputs, weights and outputs, each counted once. Of tensors that are updated in place, those
  /// of the elements that are replaced.
  package var bytes: Double

  package init(operations: Double, bytes: Double) {
    self.operations = operations
    self.bytes = bytes
  }
}

extension Graph {
  package func work(of node: Node) -> Work {
    var bytes = Set(node.inputs + node.outputs).reduce(0) { $0 + self[$1].type.byteCount }
    if let count = (node.op as? any UpdatingOperator)?.replacedCount {
      // Each new element is read and written.
      bytes = 2 * count * self[node.outputs[0]].type.scalar.byteCount
    }
    return Work(operations: node.op.operations(types(node.inputs), types(node.outputs)), bytes: Double(bytes))
  }
}
