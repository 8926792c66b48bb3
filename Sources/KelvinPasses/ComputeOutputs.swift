package import KelvinGraph

/// Gives every output of the graph a node that computes it: an input or weight that the source returns as it is gets a
/// reshape to its own shape, so that outputs never share memory with inputs.
package struct ComputeOutputs: Pass {
  package static let name = "compute outputs"

  package init() {}

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var result = graph
    var changes: [PassChange] = []
    let producers = graph.producers()
    for (index, output) in graph.outputs.enumerated() where producers[output.index] == nil {
      let value = graph[output]
      let copy = result.addValue(Value(name: "\(value.name)#output\(index)", type: value.type))
      let origin = Origin(name: value.name, kind: "output", index: index, work: 1)
      result.nodes.append(
        Node(
          name: "\(value.name)#output\(index)", op: Reshape(value.type.shape), inputs: [output], outputs: [copy],
          origins: [origin]))
      result.outputs[index] = copy
      changes.append(
        PassChange(pass: Self.name, origins: [origin], reason: "the model returns it as it is", isRemoval: false))
    }
    return PassResult(graph: result, changes: changes)
  }
}
