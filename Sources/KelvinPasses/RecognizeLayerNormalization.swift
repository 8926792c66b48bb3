package import KelvinGraph

/// Replaces decomposed layer normalizations (mean, difference, mean of squares, square root and quotient) by a single
/// operator, including the constant scale and shift that follow. Normalizations by the mean square lack the difference.
package struct RecognizeLayerNormalization: Pass {
  package static let name = "recognize layer normalization"

  package init() {}

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var edits = GraphEdits(Self.self, graph)
    for index in graph.nodes.indices {
      guard var chain = NormalizationChain(endingAt: index, in: edits) else { continue }
      let isClosed = chain.nodes.allSatisfy { place in
        place == index
          || graph.nodes[place].outputs.allSatisfy { id in
            !edits.isRead(id, besides: chain.nodes)
          }
      }
      guard isClosed else { continue }
      chain.takeScaleAndShift(in: &edits)
      let places = chain.nodes.sorted()
      let origins = places.flatMap { graph.nodes[$0].origins }.joiningEqualOnes
      var node = graph.nodes[chain.last]
      let op = LayerNormalization(axis: chain.axis, epsilon: chain.epsilon, isCentered: chain.isCentered)
      node.op = op
      node.inputs = [chain.x] + chain.parameters
      node.body = try op.decomposition(node.inputs.map(edits.type))
      node.origins = origins
      for place in places where place != chain.last { edits.remove(place) }
      edits.rewrite(chain.last, node)
      edits.note(origins, "together they are a layer normalization")
    }
    return edits.finish()
  }
}

/// The nodes of one normalization, found backwards from its last product or quotient.
private struct NormalizationChain {
  private(set) var nodes: Set<Int>
  private(set) var last: Int
  private(set) var x = ValueID(0)
  private(set) var axis = 0
  private(set) var epsilon: Float = 0
  private(set) var isCentered = true
  /// The scale, then the shift.
  private(set) var parameters: [ValueID] = []

  init?(endingAt index: Int, in edits: GraphEdits) {
    (nodes, last) = ([index], index)
    guard let node = edits.node(index), let binary = node.op as? Binary, node.inputs.count == 2 else { return nil }
    let (left, right) = (node.inputs[0], node.inputs[1])
    switch binary.function {
    case .divide:
      guard let variance = variance(ofDeviation: right, edits), takeStatistics(variance, centered: left, edits) else {
        return nil
      }
    case .multiply:
      if let variance = variance(ofInverse: right, edits), takeStatistics(variance, centered: left, edits) { return }
      (nodes, epsilon) = ([index], 0)
      guard let variance = variance(ofInverse: left, edits), takeStatistics(variance, centered: right, edits) else {
        return nil
      }
    default: return nil
    }
  }

  /// Returns the operator that computes a value, and its inputs, and adds its node to the chain.
  private mutating func take(_ id: ValueID, _ edits: GraphEdits) -> (op: any Operator, inputs: [ValueID])? {
    guard let index = edits.producer(of: id), let node = edits.node(index) else { return nil }
    nodes.insert(index)
    return (node.op, node.inputs)
  }

  private func number(_ id: ValueID, _ edits: GraphEdits) -> Double? {
    guard let weight = edits.weight(id), weight.type.count == 1 else { return nil }
    return weight.dense().doubles.first
  }

  private mutating func variance(ofInverse id: ValueID, _ edits: GraphEdits) -> ValueID? {
    guard let (op, inputs) = take(id, edits) else { return nil }
    if let unary = op as? Unary, unary.function.kind == .reciprocal { return variance(ofDeviation: inputs[0], edits) }
    if let unary = op as? Unary, unary.function.kind == .rsqrt {
      epsilon = unary.function.a
      return epsilon == 0 ? variance(shifted: inputs[0], edits) : inputs[0]
    }
    guard (op as? Binary)?.function == .power, number(inputs[1], edits) == -0.5 else { return nil }
    return variance(shifted: inputs[0], edits)
  }

  private mutating func variance(ofDeviation id: ValueID, _ edits: GraphEdits) -> ValueID? {
    guard let (op, inputs) = take(id, edits) else { return nil }
    let isRoot =
      (op as? Unary)?.function.kind == .sqrt
      || ((op as? Binary)?.function == .power && number(inputs[1], edits) == 0.5)
    return isRoot ? variance(shifted: inputs[0], edits) : nil
  }

  /// Takes an addition of epsilon, if there is one, and returns the variance.
  private mutating func variance(shifted id: ValueID, _ edits: GraphEdits) -> ValueID? {
    let before = nodes
    guard let (op, inputs) = take(id, edits) else { return nil }
    if (op as? Binary)?.function == .add {
      for (value, addend) in [(inputs[0], inputs[1]), (inputs[1], inputs[0])] {
        guard let number = number(addend, edits) else { continue }
        epsilon = Float(number)
        return value
      }
    }
    if let unary = op as? Unary, unary.function.kind == .affine, unary.function.a == 1 {
      epsilon = unary.function.b
      return inputs[0]
    }
    nodes = before
    return id
  }

  /// Takes the mean of squares and the differences from the mean.
  private mutating func takeStatistics(_ variance: ValueID, centered: ValueID, _ edits: GraphEdits) -> Bool {
    guard epsilon >= 0, let (reduce, squares) = take(variance, edits), let axes = axes(reduce, squares, edits),
      let first = axes.first, let (square, squared) = take(squares[0], edits)
    else { return false }
    switch square {
    case let unary as Unary where unary.function.kind == .square: break
    case let binary as Binary where binary.function == .multiply && squared[0] == squared[1]: break
    case let binary as Binary where binary.function == .power && number(squared[1], edits) == 2: break
    default: return false
    }
    let before = nodes
    if let source = source(ofDifference: squared[0], axes, edits),
      self.source(ofDifference: centered, axes, edits) == source
    {
      x = source
    } else {
      guard squared[0] == centered else { return false }
      (nodes, x, isCentered) = (before, centered, false)
    }
    axis = first
    return edits.type(x).scalar.isFloatingPoint
  }

  /// Returns the axes of a mean over a number of trailing axes, or nil.
  private func axes(_ op: any Operator, _ inputs: [ValueID], _ edits: GraphEdits) -> [Int]? {
    guard let reduce = op as? Reduce, reduce.function == .mean, reduce.keepsDimensions, let first = reduce.axes.first,
      reduce.axes == Array(first..<edits.type(inputs[0]).shape.rank)
    else { return nil }
    return reduce.axes
  }

  /// Returns x for a value that is `x - mean x`, or nil.
  private mutating func source(ofDifference id: ValueID, _ axes: [Int], _ edits: GraphEdits) -> ValueID? {
    guard let (op, inputs) = take(id, edits), (op as? Binary)?.function == .subtract,
      let (reduce, averaged) = take(inputs[1], edits), averaged == [inputs[0]],
      self.axes(reduce, averaged, edits) == axes
    else { return nil }
    return inputs[0]
  }

  mutating func takeScaleAndShift(in edits: inout GraphEdits) {
    for function in [Binary.Function.multiply, .add] {
      guard let output = edits.node(last)?.outputs[0], let next = edits.onlyConsumer(of: output),
        let node = edits.node(next), (node.op as? Binary)?.function == function,
        let operand = node.inputs.first(where: { $0 != output }), let parameter = parameter(operand, &edits)
      else { return }
      parameters.append(parameter)
      nodes.insert(next)
      last = next
    }
  }

  /// Returns a constant in the shape of the normalized axes if it has one element for each of their positions, or nil.
  private func parameter(_ id: ValueID, _ edits: inout GraphEdits) -> ValueID? {
    let shape = Shape(Array(edits.type(x).shape.dimensions[axis...]))
    let type = TensorType(edits.type(x).scalar, shape)
    guard let weight = edits.weight(id), weight.type.scalar == type.scalar else { return nil }
    if weight.type.shape == shape { return id }
    let leading = weight.type.shape.rank - shape.rank
    guard (0...axis).contains(leading), weight.type.shape.dimensions[..<leading].allSatisfy({ $0 == 1 }),
      Array(weight.type.shape.dimensions[leading...]) == shape.dimensions
    else { return nil }
    let name = "\(edits.graph[id].name)#\(shape)"
    return edits.addWeight(name, Weight(type) { weight.dense().reshaped(to: shape) })
  }
}
