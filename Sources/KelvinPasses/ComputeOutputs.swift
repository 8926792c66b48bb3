package import KelvinGraph

/// Ensures that a node computes every result of the graph. An input or weight that the source returns unchanged gets a
/// reshape to its own shape, so that results never share memory with inputs.
///
/// A carried value of a loop therefore never shares memory with another one. The results of a branch's sides are copied
/// to the branch's results anyway. A state that is not updated is not a result.
package struct ComputeOutputs: Pass {
  package static let name = "compute outputs"

  package init() {}

  package func takes(_ role: Region.Role) -> Bool { role == .body }

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var result = graph
    var changes: [PassChange] = []
    let producers = graph.producers()
    func computed(_ output: ValueID, _ index: Int) -> ValueID {
      let value = graph[output]
      let copy = result.addValue(Value(name: "\(value.name)#output\(index)", type: value.type))
      let origin = Origin(name: value.name, kind: "output", index: index, work: 1)
      result.nodes.append(
        Node(
          name: "\(value.name)#output\(index)", op: Reshape(value.type.shape), inputs: [output], outputs: [copy],
          origins: [origin]))
      changes.append(
        PassChange(pass: Self.name, origins: [origin], reason: "the model returns it as it is", isRemoval: false))
      return copy
    }
    for (index, output) in graph.outputs.enumerated() where producers[output.index] == nil {
      result.outputs[index] = computed(output, index)
    }
    for (index, state) in graph.states.enumerated() {
      guard let written = state.written, producers[written.index] == nil else { continue }
      if written == state.read {
        result.states[index].written = nil
        let origin = Origin(name: state.name, kind: "state", index: index)
        changes.append(
          PassChange(pass: Self.name, origins: [origin], reason: "the state is left as it was", isRemoval: false))
      } else {
        result.states[index].written = computed(written, graph.outputs.count + index)
      }
    }
    return PassResult(graph: result, changes: changes)
  }
}
