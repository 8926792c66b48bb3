package import KelvinGraph

/// Removes operands of control flow that none of its regions reads.
package struct RemoveUnusedCaptures: Pass {
  package static let name = "remove unused captures"

  package init() {}

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var edits = GraphEdits(Self.self, graph)
    for (index, node) in graph.nodes.enumerated() {
      guard let op = node.op as? any ControlOperator else { continue }
      var slim = node
      for number in slim.regions.indices { slim.regions[number].dropUnreadCaptures() }
      let kept = Set(slim.regions.flatMap(\.captures))
      let operands = node.inputs.indices.filter { $0 < op.ownOperandCount || kept.contains($0) }
      guard operands.count < node.inputs.count else { continue }
      slim.inputs = operands.map { node.inputs[$0] }
      for number in slim.regions.indices {
        slim.regions[number].captures = slim.regions[number].captures.compactMap { operands.firstIndex(of: $0) }
      }
      edits.rewrite(index, slim)
      let count = node.inputs.count - operands.count
      edits.note(node.origins, "\(count) captured \(count == 1 ? "value is" : "values are") not read")
    }
    return edits.finish()
  }
}

extension Region {
  fileprivate mutating func dropUnreadCaptures() {
    guard role.isControl, refusal == nil else {
      if refusal != nil { captures = [] }
      return
    }
    let read = Set(graph.nodes.flatMap(\.inputs) + graph.outputs)
    let first = graph.inputs.count - captures.count
    let kept = captures.indices.filter { read.contains(graph.inputs[first + $0]) }
    guard kept.count < captures.count else { return }
    graph.inputs = Array(graph.inputs.prefix(first)) + kept.map { graph.inputs[first + $0] }
    captures = kept.map { captures[$0] }
    graph.removeUnusedValues()
  }
}
