package import KelvinGraph

/// Replaces the two scatters that write new rows of keys and values into the caches of an attention, at positions from
/// the length of each batch on, by one operator that reads the rows where they are. Its body consists of the replaced
/// nodes.
package struct RecognizeCacheUpdates: Pass {
  package static let name = "recognize cache updates"

  package init() {}

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var edits = GraphEdits(Self.self, graph)
    for index in graph.nodes.indices {
      guard let node = edits.node(index), node.op is Attention, let match = CacheUpdateMatch(node, edits) else {
        continue
      }
      try match.apply(to: &edits)
    }
    return edits.finish()
  }
}

/// A scatter that writes rows into one cache.
private struct CacheScatter {
  let index: Int
  let node: Node
  let rows: AttentionOperand
  let lengths: ShiftedLengths

  init?(_ value: ValueID, _ edits: GraphEdits) {
    guard let index = edits.producer(of: value), let node = edits.node(index),
      let scatter = node.op as? ScatterElements, scatter.axis == 2, scatter.reduction == .replace,
      edits.type(node.inputs[0]).shape.rank == 4, edits.type(node.inputs[0]).scalar.isFloatingPoint
    else { return nil }
    let shape = edits.type(node.inputs[2]).shape
    // The positions `[N, S]`, repeated for each head and element.
    guard let expanding = edits.producer(of: node.inputs[1]).flatMap(edits.node), expanding.op is Expand,
      let raising = edits.producer(of: expanding.inputs[0]).flatMap(edits.node), raising.op is Reshape
    else { return nil }
    let column = edits.type(expanding.inputs[0]).shape
    let (batch, count) = (shape[0], shape[2])
    let cache = edits.type(node.inputs[0]).shape
    guard column == [batch, 1, count, 1], cache[0] == batch, cache[1] == shape[1], cache[3] == shape[3],
      cache[2] >= count, shape.count > 0
    else { return nil }
    var first = expanding.inputs[0]
    var start = 0
    if count > 1 {
      first = raising.inputs[0]
      guard edits.type(first).shape == [batch, count], let sum = edits.producer(of: first).flatMap(edits.node),
        (sum.op as? Binary)?.function == .add,
        let place = [0, 1].first(where: { edits.weight(sum.inputs[$0])?.type.shape == [1, count] }),
        edits.type(sum.inputs[1 - place]).shape == [batch, 1],
        let steps = edits.weight(sum.inputs[place])?.dense().integers, abs(steps[0]) <= 1 << 30,
        steps == (0..<count).map({ steps[0] + $0 })
      else { return nil }
      (first, start) = (sum.inputs[1 - place], steps[0])
    }
    guard var lengths = ShiftedLengths(first, edits), edits.type(lengths.lengths).count == batch else { return nil }
    lengths.offset += start
    var rows = AttentionOperand(node.inputs[2], edits)
    guard rows.scale == 1, rows.repeats == 1, rows.bringToFourAxes(exchangesLast: false) else { return nil }
    (self.index, self.node, self.rows, self.lengths) = (index, node, rows, lengths)
  }
}

private struct CacheUpdateMatch {
  private let key: CacheScatter
  private let value: CacheScatter
  private let op: UpdateCache

  init?(_ attention: Node, _ edits: GraphEdits) {
    guard let key = CacheScatter(attention.inputs[1], edits), let value = CacheScatter(attention.inputs[2], edits),
      key.index != value.index, key.lengths.lengths == value.lengths.lengths,
      key.lengths.offset == value.lengths.offset
    else { return nil }
    (self.key, self.value) = (key, value)
    let (keys, values) = (key.rows.view.sizes, value.rows.view.sizes)
    guard keys[..<3] == values[..<3] else { return nil }
    op = UpdateCache(
      batch: keys[0], heads: keys[1], rows: keys[2], width: keys[3], valueWidth: values[3],
      firstRow: key.lengths.offset, key: key.rows.place, value: value.rows.place)
    let types = inputs.map(edits.type)
    guard let inferred = try? op.infer(types), inferred == [types[0], types[1]] else { return nil }
    // The new node takes the place of the later scatter, before which nothing may read the other's result or depend on
    // it.
    let (early, late) = (min(key.index, value.index), max(key.index, value.index))
    let result = (key.index == early ? key : value).node.outputs[0]
    guard edits.firstReader(of: result).map({ $0 > late }) ?? true else { return nil }
  }

  private var inputs: [ValueID] {
    [key.node.inputs[0], value.node.inputs[0], key.rows.base, value.rows.base, key.lengths.lengths]
  }

  func apply(to edits: inout GraphEdits) throws(GraphError) {
    let (early, late) = (min(key.index, value.index), max(key.index, value.index))
    var replaced: Set<Int> = [early, late]
    for index in (key.rows.nodes + value.rows.nodes).sorted(by: >) {
      guard let node = edits.node(index),
        !node.outputs.contains(where: { inputs.contains($0) || edits.isRead($0, besides: replaced) })
      else { continue }
      replaced.insert(index)
    }
    let origins = replaced.sorted().flatMap { edits.node($0)?.origins ?? [] }
    var node = value.node
    node.op = op
    node.inputs = inputs
    node.outputs = [key.node.outputs[0], value.node.outputs[0]]
    node.origins = origins
    node.body = try body(node.inputs.map(edits.type))
    for index in replaced where index != late { edits.remove(index) }
    edits.rewrite(late, node)
    edits.note(origins, "together they write new rows into caches")
  }

  /// Returns the same computation as two scatters.
  private func body(_ types: [TensorType]) throws(GraphError) -> Graph {
    var body = Graph(bodyOf: types)
    var first = body.inputs[4]
    if types[4].scalar != .int64 { first = try body.append(Cast(.int64), [first], "wide_lengths") }
    first = try body.append(Reshape([op.batch, 1, 1, 1]), [first], "lengths")
    let steps = Tensor((0..<op.rows).map { Int64(op.firstRow + $0) }, [1, 1, op.rows, 1])
    let places = try body.append(Binary(.add), [first, body.constant("steps", Weight(steps))], "places")
    var outputs: [ValueID] = []
    for (place, rows) in [key.rows, value.rows].enumerated() {
      let name = ["key", "value"][place]
      var new = body.inputs[2 + place]
      for (step, movement) in rows.movements.enumerated() {
        new = try body.append(movement, [new], "\(name)\(step)")
      }
      let indices = try body.append(Expand(body.types([new])[0].shape), [places], "\(name)_places")
      outputs.append(
        try body.append(ScatterElements(axis: 2), [body.inputs[place], indices, new], "\(name)_cache"))
    }
    body.outputs = outputs
    return body
  }
}

extension GraphEdits {
  /// Returns the first node that reads a value.
  fileprivate func firstReader(of id: ValueID) -> Int? {
    graph.nodes.indices.first { node($0)?.inputs.contains(id) ?? false }
  }
}
