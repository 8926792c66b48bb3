import KelvinBasics
import KelvinDevices
package import KelvinGraph
import KelvinReference

/// Random graphs of typical layers of convolutional networks, with branches, joins and several outputs.
package enum RandomGraph {
  package static func make(
    seed: UInt64, nodes: Int = 12, items: Int = 1
  ) throws(GraphError) -> (graph: Graph, inputs: [Tensor]) {
    var random = SeededGenerator(seed: seed)
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let shape: Shape = [items, 3, 5, 4]
    let input = try builder.input("x", TensorType(.float32, shape))
    var values = [input]
    func weight(_ shape: Shape, _ range: ClosedRange<Float> = -0.7...0.7) -> ValueID {
      builder.constant("w", Tensor.random(.float32, shape, range, &random))
    }
    for index in 0..<nodes {
      // Recent values are taken more often, so that chains grow long enough to be fused.
      let place =
        Int.random(in: 0..<2, using: &random) == 0 ? values.count - 1 : Int.random(in: 0..<values.count, using: &random)
      let x = values[place]
      let origin = Origin(name: "layer\(index)", kind: "Random", index: index)
      let name = "node\(index)"
      let y: ValueID
      switch Int.random(in: 0..<9, using: &random) {
      case 0:
        y = try builder.add(
          Convolution(window: Window(kernel: [3, 3], before: [1, 1])), x, weight([3, 3, 3, 3]), name: name,
          origin: origin)
      case 1:
        y = try builder.add(
          Convolution(window: Window(kernel: [1, 1]), epilogue: .bias), x, weight([3, 3, 1, 1]), weight([3]),
          name: name, origin: origin)
      case 2:
        y = try builder.add(
          Convolution(window: Window(kernel: [3, 3], before: [1, 1]), groups: 3), x, weight([3, 1, 3, 3]), name: name,
          origin: origin)
      case 3:
        y = try builder.add(
          BatchNormalization(epsilon: 1e-3), [x, weight([3]), weight([3]), weight([3]), weight([3], 0.5...2)],
          name: name, origin: origin)[0]
      case 4: y = try builder.add(Unary(.relu), x, name: name, origin: origin)
      case 5: y = try builder.add(Unary(.sigmoid), x, name: name, origin: origin)
      case 6:
        y = try builder.add(
          Binary(.add), x, values[Int.random(in: 0..<values.count, using: &random)], name: name, origin: origin)
      case 7: y = try builder.add(Binary(.add), x, weight([1, 3, 1, 1]), name: name, origin: origin)
      default:
        y = try builder.add(
          Binary(.multiply), x, values[Int.random(in: 0..<values.count, using: &random)], name: name, origin: origin)
      }
      values.append(y)
    }
    builder.output(values[values.count - 1])
    builder.output(values[values.count / 2])
    let graph = try builder.finish()
    return (graph, [Tensor.random(.float32, shape, -1...1, &random)])
  }
}
