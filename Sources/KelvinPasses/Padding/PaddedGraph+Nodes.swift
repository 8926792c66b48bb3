import KelvinGraph

extension PaddedGraph {
  /// Rewrites a node of the longest graph.
  ///
  /// - Throws: `GraphError` if padding would affect the results.
  mutating func rewrite(_ index: Int) throws(GraphError) {
    let nodes = builds.map { $0.nodes[index] }
    var node = nodes[0]
    let place = "\(node.op.name) '\(node.name)'"
    guard nodes.allSatisfy({ $0.op.name == node.op.name && $0.inputs == node.inputs && $0.outputs == node.outputs })
    else {
      throw GraphError(place, "differs for another length")
    }
    let isFixed = nodes.allSatisfy { $0.op.attributes == node.op.attributes }
    let read = node.inputs
    node.inputs = []
    for id in read { node.inputs.append(try operand(id, place: place)) }
    if read.contains(where: followsInputs.contains) { followsInputs.formUnion(node.outputs) }
    if isFixed, (read + node.outputs).allSatisfy({ grows($0).isEmpty }), node.regions.isEmpty {
      graph.nodes.append(node)
      return
    }
    guard node.op.isPure, node.regions.isEmpty, let output = node.outputs.first else {
      throw GraphError(place, "reads what grows with the length")
    }
    switch node.op {
    case is Binary, is Unary, is Cast, is Compare, is Select, is Expand:
      graph.nodes.append(node)
    case is Reshape where keepsRows(read[0], output):
      graph.nodes.append(node)
    case is Transpose where isFixed:
      graph.nodes.append(node)
    case let op as Concat where isFixed && read.dropFirst().allSatisfy({ !grows($0).contains(op.axis) }):
      graph.nodes.append(node)
    case let op as Gather where isFixed && !grows(read[0]).contains(op.axis):
      graph.nodes.append(node)
    case let op as Reduce where isFixed && grows(read[0]).allSatisfy({ !op.axes.contains($0) }):
      graph.nodes.append(node)
    case let op as LayerNormalization where isFixed && grows(read[0]).allSatisfy({ $0 < op.axis }):
      graph.nodes.append(node)
    case is Linear
    where isFixed && !grows(read[0]).contains(rank(read[0]) - 1) && read[1...].allSatisfy({ grows($0).isEmpty }):
      graph.nodes.append(node)
    case let op as MatMul where isFixed && leavesPaddingOut(op, read):
      graph.nodes.append(node)
    case let op as Softmax where isFixed:
      try leavePaddingOut(op, node, read[0])
    case is Slice:
      try slice(node, nodes.compactMap { $0.op as? Slice }, read[0], place)
    default:
      throw GraphError(place, "combines or rearranges elements along the growing axis")
    }
    zeroed[output] = zeroAxes(node.op, read, output)
  }

  private func rank(_ id: ValueID) -> Int { graph[id].type.shape.rank }

  /// Whether a reshape keeps the growing axes: the number of elements after each of them does not change.
  private func keepsRows(_ input: ValueID, _ output: ValueID) -> Bool {
    func behind(_ id: ValueID) -> [Int] { grows(id).map { graph[id].type.shape.dimensions[($0 + 1)...].reduce(1, *) } }
    return behind(input) == behind(output)
  }

  /// Whether a product does not sum along a growing axis, or one of its operands is zero in the padding.
  private func leavesPaddingOut(_ op: MatMul, _ read: [ValueID]) -> Bool {
    let inner = [
      rank(read[0]) - (op.transposesX ? 2 : 1), rank(read[1]) - (op.transposesY ? 1 : 2),
    ]
    guard zip(read, inner).contains(where: { grows($0).contains($1) }) else { return true }
    return zip(read, inner).contains { zeroed[$0]?.contains($1) == true }
  }

  /// Returns the axes along which a result is zero in the padding.
  private func zeroAxes(_ op: any Operator, _ read: [ValueID], _ output: ValueID) -> Set<Int>? {
    let missing = rank(output) - rank(read[0])
    switch op {
    case let op as Softmax: return grows(output).contains(op.axis) ? [op.axis] : nil
    case is Cast, is Slice: return zeroed[read[0]]
    case let op as Transpose:
      return zeroed[read[0]].map { axes in Set(op.permutation.indices.filter { axes.contains(op.permutation[$0]) }) }
    case is Expand: return zeroed[read[0]].map { Set($0.map { $0 + missing }) }
    case is Reshape:
      return zeroed[read[0]].map { axes in
        Set(zip(grows(read[0]), grows(output)).filter { axes.contains($0.0) }.map(\.1))
      }
    case let op as Binary where op.function == .multiply:
      return read.reduce(into: []) { axes, id in
        axes.formUnion((zeroed[id] ?? []).map { $0 + rank(output) - rank(id) })
      }
    default: return nil
    }
  }

  /// Adds a large negative bias in the padding before a softmax. If the softmax follows the addition of a mask, the
  /// mask gets the bias, so that the nodes still form an attention.
  private mutating func leavePaddingOut(_ op: Softmax, _ node: Node, _ scores: ValueID) throws(GraphError) {
    var node = node
    guard grows(scores).contains(op.axis) else {
      graph.nodes.append(node)
      return
    }
    let type = graph[scores].type
    let bias = try bias(type.scalar, count: type.shape[op.axis], behind: type.shape.rank - 1 - op.axis)
    if let place = graph.nodes.lastIndex(where: { $0.outputs.contains(scores) }), consumers[scores.index].count == 1,
      (graph.nodes[place].op as? Binary)?.function == .add,
      let side = graph.nodes[place].inputs.firstIndex(where: { !followsInputs.contains($0) })
    {
      let mask = try self.node(Binary(.add), [graph.nodes[place].inputs[side], bias], name: "\(node.name)/mask")
      graph.nodes[place].inputs[side] = mask.outputs[0]
      graph.nodes.insert(mask, at: place)
    } else {
      let masked = try self.node(Binary(.add), [node.inputs[0], bias], name: "\(node.name)/masked")
      graph.nodes.append(masked)
      node.inputs[0] = masked.outputs[0]
    }
    graph.nodes.append(node)
  }

  /// Returns the most negative float16 in the padding, else zero. The bias is finite because the first blocks of a
  /// kernel may contain only padding.
  private mutating func bias(_ scalar: ScalarType, count: Int, behind: Int) throws(GraphError) -> ValueID {
    let places = Tensor((0..<count).map(Int64.init), Shape([count] + [Int](repeating: 1, count: behind)))
    let isPadding = try add(Compare(.less), constant(places, name: "places"), padding, name: "is_padding")
    let unseen = constant(Tensor(TensorType(scalar, []), rounding: [-65504]), name: "unseen")
    return try add(Select(), isPadding, unseen, zero(scalar), name: "bias")
  }

  /// Rewrites a slice. A slice up to the end of a growing axis stays; a slice of a table that depends on the length
  /// takes the elements for the true length.
  private mutating func slice(
    _ node: Node, _ ops: [Slice], _ input: ValueID, _ place: String
  ) throws(GraphError) {
    guard ops.count == builds.count, let op = ops.first else { return }
    let refusal = GraphError(place, "takes a part that depends on the length or is counted from the start")
    var whole = op
    var tables: [(axis: Int, slope: Int)] = []
    for axis in op.starts.indices {
      let slope = ops[0].starts[axis] - ops[1].starts[axis]
      guard ops[1].starts[axis] - ops[2].starts[axis] == slope, ops.allSatisfy({ $0.steps[axis] == op.steps[axis] })
      else {
        throw refusal
      }
      let growth = op.counts[axis] - ops[1].counts[axis]
      if grows(input).contains(axis) {
        let rest = zip(builds, ops).map { build, op in
          build[input].type.shape[axis] - op.starts[axis] - op.counts[axis]
        }
        guard op.steps[axis] == 1, rest.allSatisfy({ $0 == rest[0] }) else { throw refusal }
      } else if slope != 0 || growth != 0 {
        guard op.steps[axis] == 1 || op.counts[axis] == 1 else { throw refusal }
        tables.append((axis, slope + growth))
        (whole.starts[axis], whole.counts[axis], whole.steps[axis]) = (0, graph[input].type.shape[axis], 1)
      }
    }
    guard !tables.isEmpty else {
      graph.nodes.append(node)
      return
    }
    var steps: [Node] = [try self.node(whole, [node.inputs[0]], name: "\(node.name)/others")]
    for (axis, slope) in tables {
      let longest = Tensor((0..<op.counts[axis]).map { Int64(op.starts[axis] + $0) }, [op.counts[axis]])
      let factor = constant(Tensor([Int64(slope)], []), name: "\(node.name)/slope")
      let back = try add(Binary(.multiply), padding, factor, name: "\(node.name)/back")
      let counted = try add(
        Binary(.subtract), constant(longest, name: "\(node.name)/rows"), back, name: "\(node.name)/counted")
      let rows = try add(Binary(.maximum), counted, zero(.int64), name: "\(node.name)/natural")
      guard let last = steps.last else { throw refusal }
      steps.append(try self.node(Gather(axis: axis), [last.outputs[0], rows], name: node.name))
    }
    steps[steps.count - 1].name = node.name
    steps[steps.count - 1].outputs = node.outputs
    steps[steps.count - 1].origins = node.origins
    graph.nodes += steps
  }
}
