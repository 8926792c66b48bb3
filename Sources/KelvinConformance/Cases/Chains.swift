import KelvinBasics
import KelvinGraph

/// Graphs of several nodes, whose inner values are not converted to dense memory of the graph's type at a boundary.
extension ConformanceCase {
  package static let chains: [ConformanceCase] = [masks, positions, planes, lines, filters, groupedFilters, sharers]

  /// Booleans that are computed, combined, read three times and returned.
  private static let masks = chain("of truth values") { chain throws(OperatorError) in
    let x = chain.input(.random(.float32, [3, 5, 7], -1...1, &chain.random))
    let limit = chain.input(.random(.float32, [5, 1], -1...1, &chain.random))
    let isSmall = try chain.add(Compare(.less), x, limit)
    let isNegative = try chain.add(Compare(.less), x, chain.constant(Tensor([Float(0)], [])))
    let both = try chain.add(Binary(.logicalAnd), isSmall, isNegative)
    let other = try chain.add(Unary(UnaryFunction(.logicalNot)), both)
    let chosen = try chain.add(Select(), other, x, chain.constant(Tensor([Float(-9)], [])))
    let turned = try chain.add(Transpose([2, 0, 1]), other)
    let counts = try chain.add(Reduce(.sum, axes: [2], keepsDimensions: false), chain.add(Cast(.int32), other))
    let shares = try chain.add(Cast(.float16), counts)
    return [chosen, turned, counts, both, shares]
  }

  /// Indices that are computed, widened, used in arithmetic and used for indexing.
  private static let positions = chain("of integers") { chain throws(OperatorError) in
    let x = chain.input(.random(.float32, [4, 6, 5], -1...1, &chain.random))
    let bytes = chain.input(Tensor(TensorType(.int8, [2, 3]), rounding: [-1, 5, 3, 0, -6, 2]))
    let rows = chain.input(.random(.float32, [6, 8], -1...1, &chain.random))
    let best = try chain.add(ArgReduce(.maximum, axis: 1, keepsDimensions: false, scalar: .int32), x)
    let wide = try chain.add(Cast(.int64), best)
    let shifted = try chain.add(Binary(.subtract), wide, chain.constant(Tensor([Int64](repeating: 2, count: 1), [])))
    let flat = try chain.add(Reshape([20]), shifted)
    let joined = try chain.add(Concat(axis: 0), flat, try chain.add(Reshape([6]), chain.add(Cast(.int64), bytes)))
    let picked = try chain.add(Gather(axis: 0), rows, joined)
    let sums = try chain.add(CumulativeReduce(.sum, axis: 0), joined)
    let padded = try chain.add(Pad(before: [1, 0], after: [0, 2], mode: .constant(7)), bytes)
    let doubled = try chain.add(Binary(.add), bytes, bytes)
    return [best, picked, sums, padded, doubled]
  }

  /// Channels in blocks through operators that process planes.
  private static let planes = chain("of planes") { chain throws(OperatorError) in
    let x = chain.input(.random(.float32, [2, 5, 6, 7], -1...1, &chain.random))
    let filters = chain.constant(.random(.float32, [6, 5, 3, 3], -1...1, &chain.random))
    let spread = chain.constant(.random(.float32, [6, 7, 2, 2], -1...1, &chain.random))
    let first = try chain.add(Convolution(window: Window(kernel: [3, 3], before: [1, 1], after: [1, 1])), x, filters)
    let calm = try chain.add(LocalResponseNormalization(size: 3, alpha: 0.1, beta: 0.75, k: 1), first)
    let large = try chain.add(
      Resize(
        axes: [(2, 6), (3, 7)].map { ResizeAxis(axis: $0, size: 2 * $1, scale: 0.5, offset: -0.25) },
        interpolation: .linear), calm)
    let wide = try chain.add(ConvolutionTranspose(window: Window(kernel: [2, 2], strides: [2, 2])), large, spread)
    let small = try chain.add(
      Resize(axes: [ResizeAxis(axis: 3, size: 9, scale: 3, offset: 1)], interpolation: .nearest(.floor)), wide)
    let pooled = try chain.add(Pool(.average, window: Window(kernel: [2, 3], strides: [2, 3])), small)
    let others = chain.constant(.random(.float32, [8, 5, 3, 3], -1...1, &chain.random))
    let second = try chain.add(Convolution(window: Window(kernel: [3, 3], before: [1, 1], after: [1, 1])), x, others)
    let joined = try chain.add(Concat(axis: 1), second, first)
    let largest = try chain.add(Pool(.maximum, window: Window(kernel: [2, 2])), joined)
    let labels = try chain.add(ArgReduce(.maximum, axis: 1, keepsDimensions: true), pooled)
    return [pooled, labels, largest]
  }

  /// Channels in blocks before and after operators along each axis: with few elements and with enough for GPU
  /// workgroups, with and without unused lanes.
  private static let lines = chain("of lines in blocks") { chain throws(OperatorError) in
    let calm = LocalResponseNormalization(size: 3, alpha: 0.1, beta: 0.75, k: 1)
    let softmaxes: [(Int, Shape)] = [
      (1, [2, 5, 3, 2]), (1, [1, 37, 5, 3]), (1, [1, 2099, 2, 1]), (0, [3, 8, 2, 1]), (2, [1, 8, 6, 3]),
      (2, [1, 16, 40, 1]), (3, [1, 7, 2, 5]),
    ]
    let normalizations: [(Int, Shape)] = [
      (2, [2, 5, 4, 3]), (2, [1, 64, 7, 6]), (3, [3, 16, 2, 5]), (2, [1, 16, 2100]),
    ]
    let sums: [Shape] = [[2, 37, 3, 2], [1, 2099, 2, 1]]
    var outputs: [ValueID] = []
    func put(_ op: any Operator, _ shape: Shape) throws(OperatorError) -> ValueID {
      let x = chain.input(.random(.float32, shape, -4...4, &chain.random))
      return try chain.add(op, chain.add(calm, x))
    }
    for (axis, shape) in softmaxes { outputs.append(try chain.add(calm, put(Softmax(axis: axis), shape))) }
    for (axis, shape) in normalizations {
      outputs.append(try chain.add(calm, put(LayerNormalization(axis: axis, epsilon: 1e-3), shape)))
    }
    for shape in sums { outputs.append(try put(Reduce(.maximum, axes: [1], keepsDimensions: true), shape)) }
    return outputs
  }

  /// Filters computed by the graph.
  private static let filters = chain("of computed filters") { chain throws(OperatorError) in
    let x = chain.input(.random(.float32, [1, 4, 7, 5], -1...1, &chain.random))
    let given = chain.input(.random(.float32, [6, 4, 3, 3], -1...1, &chain.random))
    let filters = try chain.add(Unary(.relu), given)
    let square = try chain.add(
      Slice(starts: [0, 0, 0, 0], counts: [4, 4, 3, 3], steps: [1, 1, 1, 1]), filters)
    return [
      try chain.add(Convolution(window: Window(kernel: [3, 3], strides: [2, 1])), x, filters),
      try chain.add(ConvolutionTranspose(window: Window(kernel: [3, 3], strides: [2, 2])), x, square),
    ]
  }

  /// The same for several groups and for three axes. Without padding, because devices may multiply a padded zero by an
  /// infinite filter.
  private static let groupedFilters = chain("of computed filters in groups") { chain throws(OperatorError) in
    let x = chain.input(.random(.float32, [2, 6, 7, 5], -1...1, &chain.random))
    let volume = chain.input(.random(.float32, [1, 4, 5, 6, 7], -1...1, &chain.random))
    let pairs = try chain.add(Unary(.relu), chain.input(.random(.float32, [10, 3, 3, 2], -1...1, &chain.random)))
    let single = try chain.add(Unary(.relu), chain.input(.random(.float32, [6, 1, 3, 3], -1...1, &chain.random)))
    let deep = try chain.add(Unary(.relu), chain.input(.random(.float32, [4, 5, 2, 3, 3], -1...1, &chain.random)))
    let cubes = try chain.add(Slice(starts: [0, 0, 0, 0, 0], counts: [4, 4, 2, 3, 3], steps: [1, 1, 1, 1, 1]), deep)
    let cube = Window(kernel: [2, 3, 3], strides: [2, 1, 2])
    return [
      try chain.add(Convolution(window: Window(kernel: [3, 2]), groups: 2), x, pairs),
      try chain.add(Convolution(window: Window(kernel: [3, 3]), groups: 6), x, single),
      try chain.add(ConvolutionTranspose(window: Window(kernel: [3, 3], strides: [2, 2]), groups: 3), x, single),
      try chain.add(Convolution(window: cube), volume, cubes),
      try chain.add(ConvolutionTranspose(window: cube), volume, deep),
    ]
  }

  /// One weight that devices may pack in several layouts, with enough positions for tiling to pay off.
  private static let sharers = chain("of one filter's readers") { chain throws(OperatorError) in
    let x = chain.input(.random(.float32, [1, 1, 1203], -1...1, &chain.random))
    let filter = chain.constant(.random(.float32, [32, 1, 3], -1...1, &chain.random))
    let bias = chain.constant(.random(.float32, [32], -1...1, &chain.random))
    return try [1, 3].map { (stride) throws(OperatorError) in
      try chain.add(Convolution(window: Window(kernel: [3], strides: [stride]), epilogue: .bias), x, filter, bias)
    }
  }

  private static func chain(
    _ name: String, _ build: (inout Chain) throws(OperatorError) -> [ValueID]
  ) -> ConformanceCase {
    var chain = Chain()
    do {
      chain.graph.outputs = try build(&chain)
      try chain.graph.verify()
    } catch {
      preconditionFailure("conformance case 'chain \(name)' is not a valid graph: \(error)")
    }
    return ConformanceCase(name: "chain \(name)", graph: chain.graph, inputs: chain.inputs)
  }
}

/// A graph under construction.
private struct Chain {
  var graph = Graph()
  var inputs: [Tensor] = []
  var random = SeededGenerator(seed: 20)

  mutating func input(_ tensor: Tensor) -> ValueID {
    let id = graph.addValue(Value(name: "input\(inputs.count)", type: tensor.type))
    graph.inputs.append(id)
    inputs.append(tensor)
    return id
  }

  mutating func constant(_ tensor: Tensor) -> ValueID {
    graph.addValue(Value(name: "constant\(graph.values.count)", type: tensor.type, weight: Weight(tensor)))
  }

  mutating func add(_ op: any Operator, _ operands: ValueID...) throws(OperatorError) -> ValueID {
    let name = "\(op.name)\(graph.nodes.count)"
    let output = graph.addValue(Value(name: name, type: try op.infer(graph.types(operands))[0]))
    let origin = Origin(name: name, kind: op.name, index: graph.nodes.count)
    graph.nodes.append(Node(name: name, op: op, inputs: operands, outputs: [output], origins: [origin]))
    return output
  }
}
