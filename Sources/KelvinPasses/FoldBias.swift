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
        let bias = channelVector(weight, output: output, channelAxis: op is Linear ? output.shape.rank - 1 : 1)
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
    let type = TensorType(output.scalar, [channels])
    guard shape.count == 1 else { return weight.reshaped(to: [channels]) }
    return Weight(type, from: [weight], recipe: WeightRecipe("one for each channel", [weight])) {
      Tensor(type, rounding: [Double](repeating: weight.dense().doubles[0], count: channels))
    }
  }
}
