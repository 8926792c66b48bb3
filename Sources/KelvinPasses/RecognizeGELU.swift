package import KelvinGraph

/// Replaces the decomposition `x/2 · (1 + erf(x / sqrt 2))`, with its factors in any order, by gelu.
package struct RecognizeGELU: Pass {
  package static let name = "recognize gelu"

  package init() {}

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var edits = GraphEdits(Self.self, graph)
    for (index, node) in graph.nodes.enumerated() {
      guard edits.node(index) != nil, (node.op as? Unary)?.function.kind == .erf else { continue }
      replace(at: index, in: graph, &edits)
    }
    return edits.finish()
  }

  private func replace(at erf: Int, in graph: Graph, _ edits: inout GraphEdits) {
    guard let inner = edits.producer(of: graph.nodes[erf].inputs[0]), let scaled = edits.node(inner),
      let (x, scale) = edits.scaling(scaled), abs(scale - 0.5.squareRoot()) < 1e-5,
      let sum = edits.onlyConsumer(of: graph.nodes[erf].outputs[0]), let one = edits.node(sum),
      edits.addend(one, beside: graph.nodes[erf].outputs[0]) == 1
    else { return }
    // The following nodes multiply x and 1/2, in any order; 1/2 may also be applied to x beforehand.
    var (factor, hasX, place, nodes) = (1.0, false, sum, [inner, erf, sum])
    while !(hasX && abs(factor - 0.5) < 1e-6) {
      let value = graph.nodes[place].outputs[0]
      guard let next = edits.onlyConsumer(of: value), let node = edits.node(next) else { return }
      if let (source, scale) = edits.scaling(node), source == value {
        factor *= scale
      } else if (node.op as? Binary)?.function == .multiply, !hasX,
        let other = node.inputs.first(where: { $0 != value })
      {
        if other != x {
          guard let half = edits.producer(of: other), let halved = edits.node(half),
            let (source, scale) = edits.scaling(halved), source == x, edits.onlyConsumer(of: other) == next
          else { return }
          factor *= scale
          nodes.append(half)
        }
        hasX = true
      } else {
        return
      }
      place = next
      nodes.append(next)
    }
    let last = graph.nodes[place]
    guard edits.type(last.outputs[0]) == edits.type(x) else { return }
    let origins = nodes.sorted().flatMap { graph.nodes[$0].origins }
    var fused = last
    fused.op = Unary(UnaryFunction(.gelu))
    fused.inputs = [x]
    fused.origins = origins
    for node in nodes.dropLast() where node != inner || edits.onlyConsumer(of: scaled.outputs[0]) == erf {
      edits.remove(node)
    }
    edits.rewrite(place, fused)
    edits.note(origins, "together they are gelu")
  }
}

extension GraphEdits {
  /// Returns the constant that a node adds to a value, or nil.
  fileprivate func addend(_ node: Node, beside value: ValueID) -> Double? {
    if let unary = node.op as? Unary, unary.function.kind == .affine, unary.function.a == 1 {
      return Double(unary.function.b)
    }
    guard (node.op as? Binary)?.function == .add else { return nil }
    return node.inputs.first { $0 != value }.flatMap(number)
  }
}
