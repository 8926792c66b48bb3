package import KelvinGraph

/// Replaces dequantization, a float operator and quantization by integer arithmetic.
///
/// Products become `ConvolutionInteger` and `MatMulInteger` with the bias in int32 and one requantization. Sums and
/// products of two tensors become `BinaryInteger`. Operators that only move or compare elements run on 8 bits. If no
/// rule applies, the float operators stay.
package struct FuseIntegers: Pass {
  package static let name = "fuse integers"

  package init() {}

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var matcher = IntegerMatcher(edits: GraphEdits(Self.self, graph), consumers: graph.consumers())
    for index in graph.nodes.indices {
      guard let node = matcher.edits.node(index), let result = matcher.result(of: node) else { continue }
      try matcher.fuse(index, node, result)
    }
    return matcher.edits.finish()
  }
}

/// An 8-bit value that represents real numbers: `(value - zero) * scale`, with one scale and one zero point.
struct QuantizedValue {
  let id: ValueID
  let scale: Float
  let scaleID: ValueID
  let zero: Int
  let zeroID: ValueID
  let scalar: ScalarType
  /// The index of the node that dequantizes the value, or of the quantization that computes it.
  let node: Int

  func hasParameters(of other: QuantizedValue) -> Bool {
    scale == other.scale && zero == other.zero && scalar == other.scalar
  }
}

/// Constant 8-bit weights, of shape `[channels, …]` or, for a matrix on the right, `[…, channels]`.
struct QuantizedWeight {
  let id: ValueID
  let zeroID: ValueID
  let scales: [Float]
  /// The indices of the nodes that dequantize and transpose the weights.
  let nodes: [Int]
}

struct IntegerMatcher {
  var edits: GraphEdits
  let consumers: [[Int]]

  /// Returns the result of a per-tensor quantization to 8 bits, or nil for other nodes.
  func result(of node: Node) -> QuantizedValue? {
    guard let op = node.op as? Quantize, op.scalar.isByte, let producer = edits.producer(of: node.outputs[0]) else {
      return nil
    }
    return quantized(node.outputs[0], op.axis, node, at: producer)
  }

  /// Returns the 8-bit value that a value is dequantized from, or nil.
  func dequantized(_ id: ValueID) -> QuantizedValue? {
    guard let index = edits.producer(of: edits.resolve(id)), let node = edits.node(index),
      let op = node.op as? Dequantize, op.scalar == .float32
    else { return nil }
    return quantized(edits.resolve(node.inputs[0]), op.axis, node, at: index)
  }

  private func quantized(_ id: ValueID, _ axis: QuantizationAxis, _ node: Node, at index: Int) -> QuantizedValue? {
    guard axis.axis == nil, edits.type(id).scalar.isByte, let scale = edits.weight(node.inputs[1]),
      scale.type.scalar == .float32, let zero = edits.weight(node.inputs[2])
    else { return nil }
    let value = scale.dense().floats[0]
    guard value.isFinite, value > 0 else { return nil }
    return QuantizedValue(
      id: id, scale: value, scaleID: node.inputs[1], zero: zero.dense().integers[0], zeroID: node.inputs[2],
      scalar: edits.type(id).scalar, node: index)
  }

  /// Returns dequantized constant weights whose scales may vary along `axis` only; a transposition may follow.
  mutating func weights(_ id: ValueID, axis: Int) -> QuantizedWeight? {
    guard let index = edits.producer(of: id), let node = edits.node(index) else { return nil }
    var (dequantization, place, axis, permutation) = (node, index, axis, [Int]?.none)
    if let transpose = node.op as? Transpose {
      guard let inner = edits.producer(of: node.inputs[0]), let producer = edits.node(inner) else { return nil }
      (dequantization, place, permutation) = (producer, inner, transpose.permutation)
      axis = transpose.permutation[axis]
    }
    guard let op = dequantization.op as? Dequantize, op.scalar == .float32, op.axis.blockSize == 1,
      op.axis.axis == nil || op.axis.axis == axis, let data = edits.weight(dequantization.inputs[0]),
      data.type.scalar.isByte, let scales = edits.weight(dequantization.inputs[1]), scales.type.scalar == .float32,
      edits.weight(dequantization.inputs[2]) != nil
    else { return nil }
    let values = scales.dense().floats
    guard values.allSatisfy({ $0.isFinite && $0 > 0 }) else { return nil }
    var integers = dequantization.inputs[0]
    if let permutation {
      let shape = Shape(permutation.map { data.type.shape[$0] })
      integers = edits.addWeight(
        "\(edits.graph[node.outputs[0]].name)#integers",
        Weight(TensorType(data.type.scalar, shape), from: [data]) { data.dense().transposed(permutation) })
    }
    return QuantizedWeight(
      id: integers, zeroID: dequantization.inputs[2], scales: values, nodes: place == index ? [index] : [place, index])
  }

  /// Returns a constant vector as int32 multiples of `scales`, or nil if it is not quantized in this way.
  func bias(_ id: ValueID, channels: Int, scales: [Float]) -> (weight: Weight, node: Int)? {
    guard let index = edits.producer(of: id), let node = edits.node(index), let op = node.op as? Dequantize,
      let data = edits.weight(node.inputs[0]), data.type.scalar == .int32, data.type.count == channels,
      let own = edits.weight(node.inputs[1]), let zero = edits.weight(node.inputs[2]), op.axis.blockSize == 1
    else { return nil }
    let (given, zeros) = (own.dense().floats, zero.dense().integers)
    guard given.count == zeros.count, given.count == 1 || given.count == channels else { return nil }
    for channel in 0..<channels {
      let expected = scales[scales.count == 1 ? 0 : channel]
      guard abs(given[given.count == 1 ? 0 : channel] - expected) <= 1e-4 * expected else { return nil }
    }
    let type = TensorType(.int32, [channels])
    let weight = Weight(type, from: [data]) {
      let values = data.dense().integers
      return Tensor(
        type, rounding: values.indices.map { Double(values[$0] - zeros[zeros.count == 1 ? 0 : $0]) })
    }
    return (weight, index)
  }

  /// Returns the node whose result only `reader` reads, or nil.
  func soleProducer(of id: ValueID, for reader: Int) -> Int? {
    guard let index = edits.producer(of: id), edits.node(index) != nil, edits.onlyConsumer(of: id) == reader else {
      return nil
    }
    return index
  }

  mutating func fuse(_ index: Int, _ node: Node, _ result: QuantizedValue) throws(GraphError) {
    if let source = dequantized(node.inputs[0]) {
      guard source.hasParameters(of: result), !edits.isOutput(result.id) else { return }
      edits.remove(index, replacement: source.id)
      edits.note(node.origins, "quantizes what was dequantized by the same scale", isRemoval: true)
      return
    }
    guard var place = soleProducer(of: node.inputs[0], for: index), var core = edits.node(place) else { return }
    var chain = [index]
    var bounds = result.scalar.quantizedRange ?? 0...0
    if let unary = core.op as? Unary, let clipped = clip(unary.function, result) {
      guard let inner = soleProducer(of: core.inputs[0], for: place), let producer = edits.node(inner) else { return }
      bounds = clipped
      chain.append(place)
      (place, core) = (inner, producer)
    }
    chain.append(place)
    let isUnclipped = chain.count == 2
    switch core.op {
    case let op as Convolution where !op.epilogue.isFused: try fuse(op, core, chain, result, bounds)
    case let op as Linear where !op.epilogue.isFused: try fuse(op, core, chain, result, bounds)
    case let op as MatMul where !op.transposesX: try fuse(op, core, chain, result, bounds)
    case let op as Reduce where op.function == .mean: try fuse(op, core, chain, result, bounds)
    case let op as Binary:
      if try fuseBias(op, core, chain, result, bounds) { return }
      if isUnclipped { fuse(op, core, chain, result) }
    default: if isUnclipped { move(core, chain, result) }
    }
  }

  /// Returns the quantized range of an activation's results, or nil for functions other than clips.
  private func clip(_ function: UnaryFunction, _ result: QuantizedValue) -> ClosedRange<Int>? {
    guard let range = result.scalar.quantizedRange else { return nil }
    func quantize(_ x: Float) -> Int {
      let places = (x / result.scale).rounded(.toNearestOrEven)
      let limit = Float(range.upperBound - range.lowerBound)
      return min(max(Int(min(max(places, -limit), limit)) + result.zero, range.lowerBound), range.upperBound)
    }
    switch function.kind {
    case .relu: return quantize(0)...range.upperBound
    case .clip where function.a <= function.b: return quantize(function.a)...quantize(function.b)
    default: return nil
    }
  }

  /// Replaces a chain of nodes by a node. The first node of the chain is the quantization, and the last one gives the
  /// name.
  ///
  /// - Parameter sources: Groups of nodes, each ending with a node whose result the chain reads. Nodes without other
  ///   readers become part of the new node.
  mutating func replace(_ chain: [Int], by node: Node, absorbing sources: [[Int]], _ reason: String) {
    var node = node
    let absorbed = Set(
      sources.filter { group in
        group.allSatisfy { index in
          guard let output = edits.node(index)?.outputs.first else { return false }
          return consumers[output.index].count == 1 && !edits.isOutput(output)
        }
      }.joined())
    let members = Array(chain.suffix(1)) + absorbed.sorted() + Array(chain.dropLast().reversed())
    node.origins = members.flatMap { edits.node($0)?.origins ?? [] }
    for index in chain.dropFirst() { edits.remove(index) }
    for index in absorbed { edits.remove(index) }
    edits.rewrite(chain[0], node)
    edits.note(node.origins, reason)
  }
}
