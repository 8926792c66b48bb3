package import KelvinGraph

/// Replaces nodes whose inputs are all weights by weights, computed when they are first needed.
package struct FoldConstants: Pass {
  package static let name = "fold constants"
  let evaluator: any ConstantEvaluator

  package init(evaluator: any ConstantEvaluator) { self.evaluator = evaluator }

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var edits = GraphEdits(Self.self, graph)
    for (index, node) in graph.nodes.enumerated() where node.outputs.count == 1 && node.body == nil {
      guard !edits.isOutput(node.outputs[0]) else { continue }
      let weights = node.inputs.compactMap { edits.weight(edits.resolve($0)) }
      guard weights.count == node.inputs.count, !weights.isEmpty else { continue }
      let type = edits.type(node.outputs[0])
      let folded = Weight(type) { [evaluator] in
        let inputs = weights.map { $0.dense() }
        // Inference accepted these types when the graph was built, so evaluation cannot fail on them.
        guard let result = try? evaluator.evaluate(node.op, inputs).first else {
          preconditionFailure("\(node.op.name) '\(node.name)' cannot be evaluated")
        }
        return result
      }
      edits.remove(index, replacement: edits.addWeight("\(graph[node.outputs[0]].name)#folded", folded))
      edits.note(node.origins, "computed once: its inputs are constant", isRemoval: true)
    }
    return edits.finish()
  }
}
