package import KelvinGraph

/// Replaces `softmax(q · kᵀ · scale + mask) · v` by an attention with strided operands and results, which includes the
/// splitting and joining of heads, their repetition, and a selection of keys by the length of each batch. Its body
/// consists of the replaced nodes.
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
struct AttentionOperand {
  private(set) var base: ValueID
  private(set) var view: OperandView
  /// The movements from the tensor on, for the body.
  private(set) var movements: [any Operator] = []
  /// The operators that then repeat each head, and how often they do.
  private(set) var repetition: [any Operator] = []
  private(set) var repeats = 1
  private(set) var scale = 1.0
  /// The traced nodes, the last one first.
  private(set) var nodes: [Int] = []

  /// Traces movements and multiplications back as long as their combination is a single view. The number of traced
  /// nodes is limited, because each is visited once for every node after it.
  ///
  /// - Parameter mayRepeat: whether a repetition of each head is traced, too.
  init(_ value: ValueID, mayRepeat: Bool = false, _ edits: GraphEdits) {
    base = value
    if mayRepeat, let repeated = edits.repetition(value) {
      (base, nodes, repeats) = (repeated.source, repeated.nodes, repeated.count)
      repetition = repeated.nodes.reversed().compactMap { edits.node($0)?.op }
    }
    view = OperandView(edits.type(base).shape)
    var (place, passed, number, ops): (ValueID, [Int], Double, [any Operator]) = (base, nodes, 1, [])
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

  static let longestWay = 32

  /// Reshapes the view to `[batch, heads, rows, elements]`; returns false if it has more than two axes before the last
  /// two.
  mutating func bringToFourAxes(exchangesLast: Bool) -> Bool {
    let rank = view.sizes.count
    guard (2...4).contains(rank), repetition.isEmpty || (rank == 4 && !exchangesLast) else { return false }
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
  private let bound: KeyBound?
  /// The movements after the last product.
  private let following: [any Operator]
  /// The replaced nodes, in order; the new node takes the position of the last one.
  private let nodes: [Int]

  init?(_ softmax: Softmax, at index: Int, _ edits: GraphEdits) {
    guard let node = edits.node(index), softmax.axis == edits.type(node.outputs[0]).shape.rank - 1 else { return nil }
    var nodes = [index]
    // Forwards: the shares of a query that sees no key are zeros.
    var shares = node.outputs[0]
    var visible: ValueID?
    if let next = edits.onlyConsumer(of: shares), let step = edits.node(next), step.op is Select,
      step.inputs[1] == shares, step.inputs[0] != shares, edits.number(step.inputs[2]) == 0,
      edits.type(step.outputs[0]) == edits.type(shares)
    {
      (visible, shares) = (step.inputs[0], step.outputs[0])
      nodes.append(next)
    }
    // Backwards: a mask, a scale, the product of queries and keys.
    var scores = node.inputs[0]
    var (mask, bound, scale): (ValueID?, KeyBound?, Double) = (nil, nil, 1)
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
      } else if step.op is Select, bound == nil, mask == nil, scale == 1, let visible, step.inputs[0] == visible,
        edits.number(step.inputs[2]) == -.infinity, edits.type(step.inputs[1]) == edits.type(scores),
        let found = KeyBound(visible, scores: edits.type(scores).shape, edits)
      {
        (scores, bound) = (step.inputs[1], found)
      } else if (step.op as? Binary)?.function == .add, mask == nil, scale == 1,
        step.inputs[0] != step.inputs[1],
        let side = step.inputs.indices.first(where: { edits.leadsToProduct(step.inputs[$0], of: edits.type(scores)) })
      {
        (mask, scores) = (step.inputs[1 - side], step.inputs[side])
      } else {
        return nil
      }
    }
    guard let product, (visible == nil) == (bound == nil), let last = edits.onlyConsumer(of: shares),
      let weighted = edits.node(last), let values = weighted.op as? MatMul, weighted.inputs[0] == shares,
      !values.transposesX, weighted.inputs[1] != shares
    else { return nil }
    nodes.append(last)
    var query = AttentionOperand(product.node.inputs[0], edits)
    var key = AttentionOperand(product.node.inputs[1], mayRepeat: product.op.transposesY, edits)
    var value = AttentionOperand(weighted.inputs[1], mayRepeat: !values.transposesY, edits)
    if key.repeats != value.repeats {
      key = AttentionOperand(product.node.inputs[1], edits)
      value = AttentionOperand(weighted.inputs[1], edits)
    }
    guard value.scale == 1, query.bringToFourAxes(exchangesLast: product.op.transposesX),
      key.bringToFourAxes(exchangesLast: !product.op.transposesY),
      value.bringToFourAxes(exchangesLast: values.transposesY)
    else { return nil }
    let (batch, heads, queries, keys) = (
      query.view.sizes[0], query.view.sizes[1], query.view.sizes[2], key.view.sizes[2]
    )
    // Operands that batches or heads share would have to be repeated in the body.
    let sharing = key.repeats
    guard key.view.sizes[..<2] == [batch, heads / sharing], value.view.sizes[..<2] == [batch, heads / sharing] else {
      return nil
    }
    if let bound { guard edits.type(bound.lengths).count == batch else { return nil } }

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
      sharing: sharing, hasLengths: bound != nil, lastKey: bound?.lastKey ?? 0, window: bound?.window ?? 0,
      query: query.place, key: key.place, value: value.place, shape: type.shape,
      result: Array(([0, 0, 0, 0] + strides).suffix(4).prefix(3)))
    self.operands = [query, key, value]
    self.mask = mask
    self.bound = bound
    self.following = following
    self.nodes = nodes
    let inputs = operands.map { edits.type($0.base) } + [mask, bound?.lengths].compactMap { $0.map(edits.type) }
    guard let inferred = try? op.infer(inputs), inferred == [type] else { return nil }
  }

  func apply(to edits: inout GraphEdits) throws(GraphError) {
    guard let place = nodes.max(), let last = edits.node(place) else { return }
    let inputs = operands.map(\.base) + [mask, bound?.lengths].compactMap { $0 }
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
      for (step, op) in operand.repetition.enumerated() {
        value = try body.append(op, [value], "\(["query", "key", "value"][index])_repeated\(step)")
      }
      moved.append(value)
    }
    if op.scale != 1 { moved[0] = try body.append(Unary(UnaryFunction(.affine, a: op.scale)), [moved[0]], "scaled") }
    var scores = try body.append(MatMul(transposesY: true), [moved[0], moved[1]], "scores")
    if mask != nil { scores = try body.append(Binary(.add), [scores, body.inputs[3]], "masked") }
    let type = body.types([scores])[0]
    let seen = try bound.map { (bound) throws(GraphError) in
      try bound.selection(of: body.inputs[body.inputs.count - 1], op, in: &body)
    }
    if let seen {
      let excluded = body.constant("excluded", Weight(Tensor(TensorType(type.scalar, []), rounding: [-.infinity])))
      scores = try body.append(Select(), [seen, scores, excluded], "seen_scores")
    }
    var shares = try body.append(Softmax(axis: 3), [scores], "shares")
    if let seen {
      let none = body.constant("none", Weight(Tensor(TensorType(type.scalar, []), rounding: [0])))
      shares = try body.append(Select(), [seen, shares, none], "seen_shares")
    }
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

/// The keys that queries see, by the length of each batch: key k and query q with `k - q <= length + lastKey`, and
/// within a window.
private struct KeyBound {
  let lengths: ValueID
  let lastKey: Int
  /// The number of keys that a query sees at most; 0 for no limit.
  let window: Int

  /// Recognizes comparisons of `k - q` with a number for each batch.
  init?(_ selection: ValueID, scores: Shape, _ edits: GraphEdits) {
    guard let node = edits.producer(of: selection).flatMap(edits.node), scores.rank == 4 else { return nil }
    func limit(_ id: ValueID, _ function: Compare.Function) -> ShiftedLengths? {
      guard let node = edits.producer(of: id).flatMap(edits.node), (node.op as? Compare)?.function == function,
        edits.areDistances(node.inputs[0], queries: scores[2], keys: scores[3]),
        edits.type(node.inputs[1]).shape == [scores[0], 1, 1, 1]
      else { return nil }
      return ShiftedLengths(node.inputs[1], edits)
    }
    if (node.op as? Binary)?.function == .logicalAnd {
      guard let last = limit(node.inputs[0], .lessOrEqual), let first = limit(node.inputs[1], .greaterOrEqual),
        last.lengths == first.lengths, last.offset >= first.offset
      else { return nil }
      (lengths, lastKey, window) = (last.lengths, last.offset, last.offset - first.offset + 1)
    } else {
      guard let last = limit(selection, .lessOrEqual) else { return nil }
      (lengths, lastKey, window) = (last.lengths, last.offset, 0)
    }
  }

  /// Adds the selection `[batch, 1, queries, keys]` to a body.
  func selection(of lengths: ValueID, _ op: Attention, in body: inout Graph) throws(GraphError) -> ValueID {
    var wide = lengths
    if body.types([wide])[0].scalar != .int64 { wide = try body.append(Cast(.int64), [wide], "wide_lengths") }
    wide = try body.append(Reshape([op.batch, 1, 1, 1]), [wide], "lengths")
    let distances = body.constant("distances", .distances(queries: op.queries, keys: op.keys))
    func compare(_ function: Compare.Function, with offset: Int, _ name: String) throws(GraphError) -> ValueID {
      let shift = body.constant("\(name)_offset", Weight(Tensor([Int64(offset)], [])))
      let limits = try body.append(Binary(.add), [wide, shift], "\(name)_limits")
      return try body.append(Compare(function), [distances, limits], name)
    }
    let past = try compare(.lessOrEqual, with: lastKey, "is_past")
    guard window > 0 else { return past }
    let near = try compare(.greaterOrEqual, with: lastKey - window + 1, "is_near")
    return try body.append(Binary(.logicalAnd), [past, near], "is_seen")
  }
}

extension Weight {
  /// The key's number minus the query's.
  fileprivate static func distances(queries: Int, keys: Int) -> Weight {
    Weight(TensorType(.int64, [queries, keys])) {
      Tensor((0..<queries).flatMap { query in (0..<keys).map { Int64($0 - query) } }, [queries, keys])
    }
  }
}

extension GraphEdits {
  /// Whether a value is the constant `key - query`. A longer one is not examined.
  fileprivate func areDistances(_ id: ValueID, queries: Int, keys: Int) -> Bool {
    guard let weight = weight(id), weight.type.shape == [queries, keys], !weight.type.scalar.isFloatingPoint,
      weight.type.count <= 1 << 22
    else { return false }
    return weight.dense().integers.enumerated().allSatisfy { place, distance in
      distance == place % keys - place / keys
    }
  }

  /// Returns `[N, G, S, D]` that a value repeats as `[N, count · G, S, D]`, copies of a head side by side, and the nodes
  /// that do, the last one first.
  fileprivate func repetition(_ value: ValueID) -> (source: ValueID, count: Int, nodes: [Int])? {
    let shape = type(value).shape
    guard shape.rank == 4, let last = producer(of: value), let joining = node(last), joining.op is Reshape,
      let middle = producer(of: joining.inputs[0]), let expanding = node(middle), expanding.op is Expand,
      let first = producer(of: expanding.inputs[0]), let parting = node(first), parting.op is Reshape
    else { return nil }
    let (source, repeated) = (type(parting.inputs[0]).shape, type(expanding.outputs[0]).shape)
    guard source.rank == 4, repeated.rank == 5, source.count > 0,
      type(expanding.inputs[0]).shape == [source[0], source[1], 1, source[2], source[3]],
      repeated == [source[0], source[1], repeated[2], source[2], source[3]],
      shape == [source[0], source[1] * repeated[2], source[2], source[3]]
    else { return nil }
    return (parting.inputs[0], repeated[2], [last, middle, first])
  }

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
