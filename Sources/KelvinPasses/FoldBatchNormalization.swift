package import KelvinGraph

/// Folds a batch normalization into the weights and bias of the convolution before it: `w' = w · g`,
/// `b' = (b - mean) · g + shift`, with `g = scale / sqrt(variance + epsilon)`.
package struct FoldBatchNormalization: Pass {
  package static let name = "fold batch normalization"

  /// The greatest number of normalizations that a convolution absorbs; each makes its weights depend on the previous
  /// ones.
  private static let limit = 16

  package init() {}

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var edits = GraphEdits(Self.self, graph)
    for index in graph.nodes.indices {
      guard let node = edits.node(index), let convolution = node.op as? Convolution, !convolution.epilogue.isFused,
        node.origins.count < Self.limit, let next = edits.onlyConsumer(of: node.outputs[0]),
        let follower = edits.node(next),
        let normalization = follower.op as? BatchNormalization, follower.inputs[0] == node.outputs[0],
        let weights = edits.weight(node.inputs[1])
      else { continue }
      let statistics = follower.inputs.dropFirst().compactMap { edits.weight($0) }
      let oldBias = convolution.epilogue.hasBias ? edits.weight(node.inputs[2]) : nil
      guard statistics.count == 4, convolution.epilogue.hasBias == (oldBias != nil) else { continue }

      let gain: @Sendable () -> [Double] = {
        zip(statistics[0].dense().doubles, statistics[3].dense().doubles).map { scale, variance in
          scale / (variance + Double(normalization.epsilon)).squareRoot()
        }
      }
      let epsilon = normalization.epsilon
      let newWeights = Weight(
        weights.type, from: [weights],
        recipe: WeightRecipe("batch normalization \(epsilon) in weights", [weights, statistics[0], statistics[3]])
      ) {
        let gain = gain()
        let inner = weights.type.count / max(weights.type.shape[0], 1)
        return Tensor(
          weights.type, rounding: weights.dense().doubles.enumerated().map { $1 * gain[$0 / max(inner, 1)] })
      }
      let biasType = statistics[1].type
      let newBias = Weight(
        biasType,
        recipe: WeightRecipe(
          "batch normalization \(epsilon) in \(oldBias == nil ? "no " : "")bias",
          statistics + [oldBias].compactMap { $0 })
      ) {
        let (gain, shift, mean) = (gain(), statistics[1].dense().doubles, statistics[2].dense().doubles)
        let bias = oldBias?.dense().doubles ?? [Double](repeating: 0, count: gain.count)
        return Tensor(biasType, rounding: gain.indices.map { (bias[$0] - mean[$0]) * gain[$0] + shift[$0] })
      }
      var folded = convolution
      folded.epilogue.hasBias = true
      let name = graph[follower.outputs[0]].name
      let inputs = [
        node.inputs[0], edits.addWeight("\(name)#folded_weights", newWeights),
        edits.addWeight("\(name)#folded_bias", newBias),
      ]
      edits.rewrite(
        next,
        try .decomposable(
          name: node.name, op: folded, inputs: inputs, types: inputs.map(edits.type), output: follower.outputs[0],
          origins: node.origins + follower.origins))
      edits.remove(index)
      edits.note(node.origins + follower.origins, "batch normalization folded into the convolution's weights")
    }
    return edits.finish()
  }
}
