package import KelvinGraph

/// Replaces decomposed activations by a single function: `x · sigmoid(x)` is silu, `x · clip(x/6 + 1/2, 0, 1)` is
/// hard-swish.
package struct RecognizeActivations: Pass {
  package static let name = "recognize activations"

  package init() {}

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var edits = GraphEdits(Self.self, graph)
    for (index, node) in graph.nodes.enumerated() {
      guard (node.op as? Binary)?.function == .multiply, node.inputs.count == 2 else { continue }
      for (gate, x) in [(node.inputs[0], node.inputs[1]), (node.inputs[1], node.inputs[0])] {
        guard let producer = edits.producer(of: gate), let inner = edits.node(producer),
          edits.onlyConsumer(of: gate) == index, let unary = inner.op as? Unary, inner.inputs == [x],
          let function = product(of: unary.function)
        else { continue }
        var fused = node
        fused.op = Unary(function)
        fused.inputs = [x]
        fused.origins = inner.origins + node.origins
        edits.remove(producer)
        edits.rewrite(index, fused)
        edits.note(fused.origins, "together they are \(function)")
        break
      }
    }
    return edits.finish()
  }

  /// Returns the function `x · f(x)`, or nil.
  private func product(of gate: UnaryFunction) -> UnaryFunction? {
    switch gate.kind {
    case .sigmoid: .silu
    case .hardSigmoid where abs(gate.a - 1 / 6) < 1e-6 && gate.b == 0.5: .hardSwish
    default: nil
    }
  }
}
