package import KelvinGraph

/// Turns the addition of one constant for each channel, after a convolution or linear layer without bias, into a bias.
package struct FoldBias: Pass {
  package static let name = "fold bias"

  package init() {}

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var edits = GraphEdits(Self.self, graph)
    for index in graph.nodes.indices {
      guard let node = edits.node(index), let op = node.op as? any FusedOperator, !op.epilogue.hasBias,
        !op.epilogue.isFused, let next = edits.onlyConsumer(of: node.outputs[0]), let follower = edits.node(next),
        (follower.op as? Binary)?.function == .add,
        let constant = follower.inputs.first(where: { $0 != node.outputs[0] }), let weight = edits.weight(constant)
      else { continue }
      let output = edits.type(node.outputs[0])
      guard edits.type(follower.outputs[0]) == output,
        let bias = channelVector(weight, output: output, channelAxis: op is Convolution ? 1 : output.shape.rank - 1)
      else { continue }
      let inputs = node.inputs + [edits.addWeight("\(graph[follower.outputs[0]].name)#bias", bias)]
      edits.rewrite(next, try biased(op, node, follower, inputs, inputs.map(edits.type)))
      edits.remove(index)
      edits.note(node.origins + follower.origins, "the addition of a constant for each channel is a bias")
    }
    return edits.finish()
  }

  private func biased(
    _ op: some FusedOperator, _ node: Node, _ follower: Node, _ inputs: [ValueID], _ types: [TensorType]
  ) throws(GraphError) -> Node {
    var op = op
    op.epilogue.hasBias = true
    return try .decomposable(
      name: node.name, op: op, inputs: inputs, types: types, output: follower.outputs[0],
      origins: node.origins + follower.origins)
  }

  /// Returns the constant as one element for each channel, or nil if it varies along another axis.
  private func channelVector(_ weight: Weight, output: TensorType, channelAxis: Int) -> Weight? {
    let shape = weight.type.shape
    let channels = output.shape[channelAxis]
    let axis = channelAxis - (output.shape.rank - shape.rank)
    guard shape.count == channels || shape.count == 1, shape.count == 1 || (axis >= 0 && shape[axis] == channels) else {
      return nil
    }
    return weight.repeated(channels)
  }
}

extension Weight {
  /// Returns a vector with one element for each channel, from such a vector in any shape or from one element.
  func repeated(_ channels: Int) -> Weight {
    guard type.count == 1 else { return reshaped(to: [channels]) }
    let vector = TensorType(type.scalar, [channels])
    return Weight(vector, from: [self], recipe: WeightRecipe("one for each channel", [self])) {
      Tensor(vector, rounding: [Double](repeating: dense().doubles[0], count: channels))
    }
  }
}
