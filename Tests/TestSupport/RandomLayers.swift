import KelvinBasics
package import KelvinGraph
import KelvinReference

/// Random graphs of layers of all families that every device runs, in float32, on small tensors of four axes.
package struct RandomLayers {
  private var builder = GraphBuilder(evaluator: ReferenceEvaluator())
  private var random: SeededGenerator
  private var values: [ValueID] = []
  private var index = 0

  private init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// - Returns: a graph of about `nodes` nodes of which the last value and one in the middle are read, and types of its
  ///   two inputs.
  package static func make(seed: UInt64, nodes: Int = 14) throws(GraphError) -> (graph: Graph, inputs: [TensorType]) {
    var layers = RandomLayers(seed: seed)
    let shape = Shape([layers.pick([1, 2]), layers.pick([3, 4, 5, 8]), layers.pick([3, 5, 6]), layers.pick([4, 7])])
    let types = [TensorType(.float32, shape), TensorType(.float32, shape)]
    for (place, type) in types.enumerated() { layers.values.append(try layers.builder.input("x\(place)", type)) }
    while layers.values.count < nodes + 2 { try layers.addLayer() }
    layers.builder.output(layers.values[layers.values.count - 1])
    layers.builder.output(layers.values[layers.values.count / 2])
    return (try layers.builder.finish(), types)
  }

  private mutating func pick<Element>(_ choices: [Element]) -> Element { choices[random.index(below: choices.count)] }

  private mutating func weight(_ shape: Shape, _ range: ClosedRange<Float> = -0.7...0.7) -> ValueID {
    builder.constant("w", Tensor.random(.float32, shape, range, &random))
  }

  private mutating func add(_ op: any Operator, _ inputs: ValueID...) throws(GraphError) -> ValueID {
    index += 1
    let origin = Origin(name: "layer\(index)", kind: op.name, index: index)
    return try builder.add(op, inputs, name: "node\(index)", origin: origin)[0]
  }

  private mutating func addLayer() throws(GraphError) {
    // Recent values are taken more often, so that chains grow long enough to be fused.
    let x = random.index(below: 2) == 0 ? values[values.count - 1] : pick(values)
    let shape = builder.type(of: x).shape
    let y =
      switch random.index(below: 5) {
      case 0: try windowed(x, shape)
      case 1: try combined(x, shape)
      case 2: try moved(x, shape)
      case 3: try function(x)
      default: try pair(x, shape)
      }
    if builder.type(of: y).shape.count <= 2048 { values.append(y) }
  }

  private mutating func function(_ x: ValueID) throws(GraphError) -> ValueID {
    let kind = pick(UnaryFunction.Kind.allCases.filter { $0 != .logicalNot } + [.relu, .relu, .clip, .silu])
    let (a, b): (Float, Float) = kind == .clip ? (-1, 1.5) : kind == .selu ? (1.6732632, 1.050701) : (0.2, 0.5)
    return try add(Unary(UnaryFunction(kind, a: a, b: b)), x)
  }

  private mutating func pair(_ x: ValueID, _ shape: Shape) throws(GraphError) -> ValueID {
    let same = values.filter { builder.type(of: $0).shape == shape }
    let other =
      switch random.index(below: 4) {
      case 0: weight([1, shape[1], 1, 1])
      case 1: weight([])
      default: pick(same)
      }
    if random.index(below: 5) == 0 {
      let functions: [Compare.Function] = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]
      let holds = try add(Compare(pick(functions)), x, other)
      return try add(Select(), holds, x, other)
    }
    return try add(
      Binary(pick(Binary.Function.allCases.filter { $0.takes(.float32) } + [.add, .add, .multiply])), x, other)
  }

  private mutating func windowed(_ x: ValueID, _ shape: Shape) throws(GraphError) -> ValueID {
    let (channels, filters) = (shape[1], pick([3, 4, 5, 8]))
    let padded = Window(kernel: [3, 3], before: [1, 1], after: [1, 1])
    switch random.index(below: 8) {
    case 0: return try add(Convolution(window: padded), x, weight([filters, channels, 3, 3]))
    case 1:
      return try add(
        Convolution(window: Window(kernel: [1, 1]), epilogue: .bias), x, weight([filters, channels, 1, 1]),
        weight([filters]))
    case 2: return try add(Convolution(window: padded, groups: channels), x, weight([channels, 1, 3, 3]))
    case 3:
      return try add(
        ConvolutionTranspose(window: Window(kernel: [2, 2], strides: [2, 2])), x, weight([channels, filters, 2, 2]))
    case 4: return try add(Pool(.maximum, window: padded), x)
    case 5: return try add(Pool(pick([.average, .averageIncludingPadding]), window: padded), x)
    case 6: return try add(LocalResponseNormalization(size: 3, alpha: 0.1, beta: 0.75, k: 1), x)
    default:
      return try add(
        BatchNormalization(epsilon: 1e-3), x, weight([channels]), weight([channels]), weight([channels]),
        weight([channels], 0.5...2))
    }
  }

  private mutating func combined(_ x: ValueID, _ shape: Shape) throws(GraphError) -> ValueID {
    let axis = random.index(below: 4)
    switch random.index(below: 8) {
    case 0:
      let reduced = try add(Reduce(pick(Reduce.Function.allCases), axes: [axis], keepsDimensions: true), x)
      return try add(Binary(pick([.add, .subtract, .maximum])), x, reduced)
    case 1: return try add(Softmax(axis: axis), x)
    case 2: return try add(LayerNormalization(axis: 3, epsilon: 1e-5), x, weight([shape[3]]), weight([shape[3]]))
    case 3: return try add(CumulativeReduce(pick([.sum, .product]), axis: axis, isReversed: pick([true, false])), x)
    case 4:
      let places = try add(ArgReduce(pick([.maximum, .minimum]), axis: axis, keepsDimensions: true), x)
      return try add(Binary(.add), x, try add(Cast(.float32), places))
    case 5: return try add(MatMul(transposesY: true), x, x)
    case 6: return try add(Linear(epilogue: .bias), x, weight([5, shape[3]]), weight([5]))
    default: return try add(Cast(.float32), try add(Cast(pick([.int32, .int64, .uint8, .bool])), x))
    }
  }

  private mutating func moved(_ x: ValueID, _ shape: Shape) throws(GraphError) -> ValueID {
    let axis = random.index(below: 4)
    switch random.index(below: 7) {
    case 0: return try add(Transpose(pick([[0, 1, 3, 2], [0, 3, 1, 2], [0, 2, 3, 1]])), x)
    case 1: return try add(Concat(axis: axis), x, x)
    case 2:
      var counts = shape.dimensions
      counts[axis] = (counts[axis] + 1) / 2
      return try add(Slice(starts: [0, 0, 0, 0], counts: counts, steps: [1, 1, 1, 1]), x)
    case 3:
      return try add(Pad(before: [0, 0, 1, 0], after: [0, 0, 0, 2], mode: pick([.constant(0), .edge])), x)
    case 4, 5:
      let axes = [2, 3].map { ResizeAxis(axis: $0, size: 2 * shape[$0], scale: 0.5, offset: -0.25) }
      return try add(Resize(axes: axes, interpolation: pick([.linear, .nearest(.floor)])), x)
    default: return try add(Reshape(shape), try add(Reshape([shape.count]), x))
    }
  }
}
