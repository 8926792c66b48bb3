package import KelvinGraph

/// Replaces `softmax(q · kᵀ · scale + mask) · v` by an attention with strided operands and results, which includes the
/// splitting and joining of heads. Its body consists of the replaced nodes.
package struct RecognizeAttention: Pass {
  package static let name = "recognize attention"

  package init() {}

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var edits = GraphEdits(Self.self, graph)
    for (index, node) in graph.nodes.enumerated() {
      guard let softmax = node.op as? Softmax, edits.node(index) != nil,
        let match = AttentionMatch(softmax, at: index, edits)
      else { continue }
      try match.apply(to: &edits)
    }
    return edits.finish()
  }
}

/// An operand of an attention, traced back to a tensor: movements of its elements, and a factor.
private struct AttentionOperand {
  private(set) var base: ValueID
  private(set) var view: OperandView
  /// The movements from the tensor on, for the body.
  private(set) var movements: [any Operator] = []
  private(set) var scale = 1.0
  /// The traced nodes, the last one first.
  private(set) var nodes: [Int] = []

  /// Traces movements and multiplications back as long as their combination is a single view. The number of traced
  /// nodes is limited, because each is visited once for every node after it.
  init(_ value: ValueID, _ edits: GraphEdits) {
    base = value
    view = OperandView(edits.type(value).shape)
    var (place, passed, number, ops): (ValueID, [Int], Double, [any Operator]) = (value, [], 1, [])
    while passed.count < Self.longestWay, let index = edits.producer(of: place), let node = edits.node(index) {
      if let (source, factor) = edits.scaling(node), edits.type(source) == edits.type(place) {
        number *= factor
        place = source
      } else if let movement = edits.movement(node) {
        ops = movement + ops
        place = node.inputs[0]
      } else {
        return
      }
      passed.append(index)
      var moved: OperandView? = OperandView(edits.type(place).shape)
      for op in ops { moved = moved?.moved(by: op) }
      // If the combination is not a view, a longer one may be a view again.
      if let moved { (base, view, movements, scale, nodes) = (place, moved, ops, number, passed) }
    }
  }

  fileprivate static let longestWay = 32

  /// Reshapes the view to `[batch, heads, rows, elements]`; returns false if it has more than two axes before the last
  /// two.
  mutating func bringToFourAxes(exchangesLast: Bool) -> Bool {
    let rank = view.sizes.count
    guard (2...4).contains(rank) else { return false }
    if exchangesLast {
      let exchange = Array(0..<(rank - 2)) + [rank - 1, rank - 2]
      view.transpose(exchange)
      let before = (movements.last as? Transpose)?.permutation
      if before != nil { movements.removeLast() }
      let permutation = before.map { before in exchange.map { before[$0] } } ?? exchange
      if permutation != Array(0..<rank) { movements.append(Transpose(permutation)) }
    }
    if rank < 4 {
      let shape = Shape([Int](repeating: 1, count: 4 - rank) + view.sizes)
      guard let padded = view.reshaped(to: shape) else { return false }
      view = padded
      movements.append(Reshape(shape))
    }
    return true
  }

  var place: [Int] { [view.offset] + zip(view.strides, view.sizes).map { $1 == 1 ? 0 : $0 } }
}

private struct AttentionMatch {
  private let op: Attention
  private let operands: [AttentionOperand]
  private let mask: ValueID?
  /// The movements after the last product.
  private let following: [any Operator]
  /// The replaced nodes, in order; the new node takes the position of the last one.
  private let nodes: [Int]

  init?(_ softmax: Softmax, at index: Int, _ edits: GraphEdits) {
    guard let node = edits.node(index), softmax.axis == edits.type(node.outputs[0]).shape.rank - 1 else { return nil }
    var nodes = [index]
    // Backwards: a mask, a scale, the product of queries and keys.
    var scores = node.inputs[0]
    var (mask, scale): (ValueID?, Double) = (nil, 1)
    var product: (node: Node, op: MatMul)?
    while product == nil {
      guard let producer = edits.producer(of: scores), let step = edits.node(producer),
        edits.onlyConsumer(of: scores) != nil
      else { return nil }
      nodes.append(producer)
      if let matmul = step.op as? MatMul {
        product = (step, matmul)
      } else if let (source, factor) = edits.scaling(step), edits.type(source) == edits.type(scores) {
        (scores, scale) = (source, scale * factor)
      } else if (step.op as? Binary)?.function == .add, mask == nil, scale == 1,
        step.inputs[0] != step.inputs[1],
        let side = step.inputs.indices.first(where: { edits.leadsToProduct(step.inputs[$0], of: edits.type(scores)) })
      {
        (mask, scores) = (step.inputs[1 - side], step.inputs[side])
      } else {
        return nil
      }
    }
    guard let product, let last = edits.onlyConsumer(of: node.outputs[0]), let weighted = edits.node(last),
      let values = weighted.op as? MatMul, weighted.inputs[0] == node.outputs[0], !values.transposesX,
      weighted.inputs[1] != node.outputs[0]
    else { return nil }
    nodes.append(last)
    var query = AttentionOperand(product.node.inputs[0], edits)
    var key = AttentionOperand(product.node.inputs[1], edits)
    var value = AttentionOperand(weighted.inputs[1], edits)
    guard value.scale == 1, query.bringToFourAxes(exchangesLast: product.op.transposesX),
      key.bringToFourAxes(exchangesLast: !product.op.transposesY),
      value.bringToFourAxes(exchangesLast: values.transposesY)
    else { return nil }
    let (batch, heads, queries, keys) = (
      query.view.sizes[0], query.view.sizes[1], query.view.sizes[2], key.view.sizes[2]
    )
    // Operands that batches or heads share would have to be repeated in the body.
    guard key.view.sizes[..<2] == [batch, heads], value.view.sizes[..<2] == [batch, heads] else { return nil }

    // Forwards: at most one transposition, and reshapes.
    var result = weighted.outputs[0]
    var following: [any Operator] = []
    let rank = edits.type(result).shape.rank
    var order = Array(0..<rank)
    while let next = edits.onlyConsumer(of: result), let step = edits.node(next) {
      if let transpose = step.op as? Transpose, following.isEmpty, transpose.permutation.last == rank - 1 {
        order = transpose.permutation
      } else if !(step.op is Reshape) {
        break
      }
      following.append(step.op)
      nodes.append(next)
      result = step.outputs[0]
    }
    let full = Array(edits.type(weighted.outputs[0]).shape.dimensions)
    let dense = Shape(order.map { full[$0] }).strides
    let strides = (0..<rank).map { axis in full[axis] == 1 ? 0 : dense[order.firstIndex(of: axis) ?? axis] }
    let type = edits.type(result)

    op = Attention(
      batch: batch, heads: heads, queries: queries, keys: keys, width: query.view.sizes[3],
      valueWidth: value.view.sizes[3], scale: Float(scale * query.scale * key.scale), hasMask: mask != nil,
      query: query.place, key: key.place,
      value: value.place, shape: type.shape,
      result: Array(([0, 0, 0, 0] + strides).suffix(4).prefix(3)))
    self.operands = [query, key, value]
    self.mask = mask
    self.following = following
    self.nodes = nodes
    let inputs = operands.map { edits.type($0.base) } + (mask.map { [edits.type($0)] } ?? [])
    guard let inferred = try? op.infer(inputs), inferred == [type] else { return nil }
  }

  func apply(to edits: inout GraphEdits) throws(GraphError) {
    guard let place = nodes.max(), let last = edits.node(place) else { return }
    let inputs = operands.map(\.base) + (mask.map { [$0] } ?? [])
    // Nodes without other readers are replaced too: the chain of one operand may begin on that of another, or the mask
    // may depend on it.
    var replaced = Set(nodes)
    for index in operands.flatMap(\.nodes).sorted(by: >) {
      guard let node = edits.node(index),
        !node.outputs.contains(where: { inputs.contains($0) || edits.isRead($0, besides: replaced) })
      else { continue }
      replaced.insert(index)
    }
    let origins = replaced.sorted().flatMap { edits.node($0)?.origins ?? [] }
    var node = last
    node.op = op
    node.inputs = inputs
    node.origins = origins
    node.body = try body(node.inputs.map(edits.type))
    for index in replaced where index != place { edits.remove(index) }
    edits.rewrite(place, node)
    edits.note(origins, "together they are attention")
  }

  /// Returns the same computation as products and a softmax.
  private func body(_ types: [TensorType]) throws(GraphError) -> Graph {
    var body = Graph(bodyOf: types)
    // Operands of one tensor share their common nodes.
    var moved: [ValueID] = []
    for (index, operand) in operands.enumerated() {
      let first = operands.firstIndex { $0.base == operand.base } ?? index
      var value = body.inputs[first]
      for (step, op) in operand.movements.enumerated() {
        let known = body.nodes.first {
          $0.inputs == [value] && $0.op.attributes == op.attributes && $0.op.name == op.name
        }
        if let known {
          value = known.outputs[0]
        } else {
          value = try body.append(op, [value], "\(["query", "key", "value"][index])\(step)")
        }
      }
      moved.append(value)
    }
    if op.scale != 1 { moved[0] = try body.append(Unary(UnaryFunction(.affine, a: op.scale)), [moved[0]], "scaled") }
    var scores = try body.append(MatMul(transposesY: true), [moved[0], moved[1]], "scores")
    if mask != nil { scores = try body.append(Binary(.add), [scores, body.inputs[3]], "masked") }
    let shares = try body.append(Softmax(axis: 3), [scores], "shares")
    var result = try body.append(MatMul(), [shares, moved[2]], "sums")
    for (step, op) in following.enumerated() {
      // The first of the movements expects as many axes as the product had.
      if step == 0, let transpose = op as? Transpose, transpose.permutation.count < 4 {
        let dimensions = body.types([result])[0].shape.dimensions
        result = try body.append(
          Reshape(Shape(Array(dimensions.suffix(transpose.permutation.count)))), [result], "axes")
      }
      result = try body.append(op, [result], "result\(step)")
    }
    if body.types([result])[0].shape != op.shape { result = try body.append(Reshape(op.shape), [result], "shaped") }
    body.outputs = [result]
    return body
  }
}

extension GraphEdits {
  /// Returns the operators of a node that only moves elements, without constants, or nil.
  fileprivate func movement(_ node: Node) -> [any Operator]? {
    switch node.op {
    case is Transpose, is Reshape, is Slice: return [node.op]
    case let gather as Gather:
      let shape = type(node.inputs[0]).shape
      guard let number = number(node.inputs[1]), let given = Int(exactly: number) else { return nil }
      let size = shape[gather.axis]
      let index = given < 0 ? given + size : given
      guard (0..<size).contains(index) else { return nil }
      var (starts, counts) = ([Int](repeating: 0, count: shape.rank), shape.dimensions)
      (starts[gather.axis], counts[gather.axis]) = (index, 1)
      return [
        Slice(starts: starts, counts: counts, steps: counts.map { _ in 1 }), Reshape(type(node.outputs[0]).shape),
      ]
    default: return nil
    }
  }

  /// Whether a value of this type is a product, optionally multiplied by a few numbers.
  fileprivate func leadsToProduct(_ value: ValueID, of expected: TensorType) -> Bool {
    var value = value
    for _ in 0..<AttentionOperand.longestWay {
      guard type(value) == expected, let producer = producer(of: value), let node = node(producer) else { return false }
      if node.op is MatMul { return true }
      guard let (source, _) = scaling(node) else { return false }
      value = source
    }
    return false
  }
}
