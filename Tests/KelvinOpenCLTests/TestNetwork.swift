import KelvinBasics
import KelvinDevices
import KelvinGraph

/// Builds small graphs of several nodes with random weights.
struct TestNetwork {
  private(set) var graph = Graph()
  private var random = SeededGenerator(seed: 7)
  private let scalar: ScalarType

  init(_ scalar: ScalarType = .float32) { self.scalar = scalar }

  mutating func input(_ shape: Shape) -> ValueID {
    let id = graph.addValue(Value(name: "input\(graph.inputs.count)", type: TensorType(scalar, shape)))
    graph.inputs.append(id)
    return id
  }

  mutating func weight(_ shape: Shape, _ range: ClosedRange<Float> = -0.5...0.5) -> ValueID {
    let tensor = Tensor.random(scalar, shape, range, &random)
    return graph.addValue(Value(name: "weight\(graph.values.count)", type: tensor.type, weight: Weight(tensor)))
  }

  mutating func add(_ op: any Operator, _ inputs: ValueID...) throws -> ValueID {
    let type = try op.infer(graph.types(inputs))[0]
    let output = graph.addValue(Value(name: "value\(graph.values.count)", type: type))
    let name = "\(op.name)\(graph.nodes.count)"
    if let fused = op as? any FusedOperator {
      let types = graph.types(inputs)
      graph.nodes.append(
        try .decomposable(name: name, op: fused, inputs: inputs, types: types, output: output, origins: []))
    } else {
      graph.nodes.append(Node(name: name, op: op, inputs: inputs, outputs: [output], origins: []))
    }
    return output
  }

  mutating func convolution(
    _ x: ValueID, _ outputs: Int, kernel: Int = 1, stride: Int = 1, groups: Int = 1,
    activation: UnaryFunction? = nil, residual: ValueID? = nil
  ) throws -> ValueID {
    let channels = graph[x].type.shape[1]
    let weights = weight([outputs, channels / groups, kernel, kernel])
    let bias = weight([outputs])
    let window = Window(
      kernel: [kernel, kernel], strides: [stride, stride], before: [kernel / 2, kernel / 2])
    let epilogue = Epilogue(hasBias: true, addsResidual: residual != nil, activation: activation)
    let op = Convolution(window: window, groups: groups, epilogue: epilogue)
    if let residual { return try add(op, x, weights, bias, residual) }
    return try add(op, x, weights, bias)
  }

  mutating func finish(_ outputs: ValueID...) throws -> Graph {
    graph.outputs = outputs
    try graph.verify()
    return graph
  }

  /// The same with weights that are what a float16 holds and stored so, and float32 to the graph.
  static func storedAsHalves(_ graph: Graph) throws -> Graph {
    var graph = graph
    for index in graph.values.indices {
      let weight = graph.values[index].weight
      graph.values[index].weight = try weight?.converted(to: .float16).converted(to: .float32)
    }
    return graph
  }

  /// Every kernel that has a blocked form, in one graph, channels counted in primes.
  static func mixed(_ scalar: ScalarType, images: Int) throws -> Graph {
    var net = TestNetwork(scalar)
    let x = net.input([images, 3, 19, 17])
    var v = try net.convolution(x, 17, kernel: 3, stride: 2, activation: .hardSwish)
    v = try net.convolution(v, 17, kernel: 3, groups: 17, activation: .clip(0, 6))
    let expanded = try net.convolution(v, 37, activation: UnaryFunction(.gelu))
    let squeezed = try net.add(Reduce(.mean, axes: [2, 3], keepsDimensions: true), expanded)
    let gate = try net.convolution(squeezed, 37, activation: .sigmoid)
    let scaled = try net.add(Binary(.multiply), expanded, gate)
    v = try net.convolution(scaled, 17, residual: v)
    let four = ["scale", "shift", "mean"].map { _ in net.weight([17]) } + [net.weight([17], 0.5...1.5)]
    v = try net.add(BatchNormalization(epsilon: 1e-3), v, four[0], four[1], four[2], four[3])
    let pooled = try net.add(
      Pool(.maximum, window: Window(kernel: [3, 3], strides: [2, 2], before: [1, 1])), v)
    let means = try net.add(
      Pool(.average, window: Window(kernel: [3, 3], strides: [2, 2], before: [1, 1])), v)
    let wide = try net.convolution(pooled, 32, activation: .relu)
    let joined = try net.add(Concat(axis: 1), wide, means)
    let grouped = try net.convolution(joined, 14, kernel: 3, groups: 7)
    let negated = try net.add(Unary(UnaryFunction(.negate)), grouped)
    let flat = try net.add(Reduce(.maximum, axes: [2, 3], keepsDimensions: false), negated)
    let linear = try net.add(Linear(epilogue: .bias), flat, net.weight([11, 14]), net.weight([11]))
    let result = try net.add(Softmax(axis: 1), linear)
    return try net.finish(result, joined, scaled)
  }

  /// Layers drawn at random on tensors of few pixels and any number of channels, so that values pass between layouts in
  /// every order.
  static func random(seed: UInt64, _ scalar: ScalarType) throws -> Graph {
    var net = TestNetwork(scalar)
    net.random = SeededGenerator(seed: seed)
    func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &net.random) }
    var values = [net.input([pick(1...2), pick(1...40), pick(1...9), pick(1...9)])]
    for _ in 0..<pick(2...9) {
      let x = values[max(0, values.count - pick(1...2))]
      let shape = net.graph[x].type.shape
      let activations: [UnaryFunction?] = [nil, .relu, .hardSwish, UnaryFunction(.tanh)]
      let activation = activations[pick(0...3)]
      switch pick(0...9) {
      case 0, 1: values.append(try net.convolution(x, pick(1...40), activation: activation))
      case 2:
        let (outputs, stride) = (pick(1...20), pick(1...2))
        values.append(try net.convolution(x, outputs, kernel: 3, stride: stride, activation: activation))
      case 3: values.append(try net.convolution(x, shape[1], kernel: 3, groups: shape[1], activation: activation))
      case 4: values.append(try net.convolution(x, shape[1], residual: x))
      case 5: values.append(try net.add(Unary(.sigmoid), x))
      case 6:
        let other = pick(0...1) == 0 ? net.weight([1, shape[1], 1, 1]) : net.weight([shape[3]])
        values.append(try net.add(Binary(pick(0...1) == 0 ? .multiply : .subtract), x, other))
      case 7:
        let window = Window(kernel: [2, 2], strides: [1, 2], before: [1, 0], after: [0, 1])
        values.append(try net.add(Pool(pick(0...1) == 0 ? .maximum : .average, window: window), x))
      case 8: values.append(try net.add(Concat(axis: 1), x, x))
      default: values.append(try net.add(Transpose([0, 1, 3, 2]), x))
      }
    }
    let last = values[values.count - 1]
    let mean = try net.add(Reduce(.mean, axes: [2, 3], keepsDimensions: pick(0...1) == 0), last)
    return try net.finish(mean, values[values.count / 2])
  }
}
