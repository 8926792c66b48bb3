import KelvinGraph

extension Graph {
  /// The graph with every constant named after all that its elements depend on, so that packed weights of one model can
  /// be kept under these names for any input shapes.
  ///
  /// A constant that the model's file holds depends on its place there, and keeps its name for all shapes. One that
  /// was computed while the graph was built or passed may depend on the shapes of the model's inputs.
  /// - Parameter inputs: the types of the whole model's inputs.
  func namingWeights(for inputs: [TensorType]) -> Graph {
    namingWeights(computedFrom: inputs.map { "\($0)" })
  }

  private func namingWeights(computedFrom inputs: [String]) -> Graph {
    var graph = self
    for index in graph.values.indices {
      guard let weight = graph.values[index].weight else { continue }
      let facts: [String]
      if case .dense(let tensor) = weight.encoding, tensor.bytes.isMapped {
        facts = ["stored", "\(weight.type)", "\(tensor.bytes.offset)"]
      } else {
        facts = ["computed", "\(weight.type)"] + inputs
      }
      graph.values[index].name += "#\(ContentKey(facts))"
    }
    for index in graph.nodes.indices {
      graph.nodes[index].body = graph.nodes[index].body?.namingWeights(computedFrom: inputs)
    }
    return graph
  }
}
