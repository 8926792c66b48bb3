extension Graph {
  /// The size of the first axis of every input if the graph computes each item along it independently; nil if this is
  /// not known, or if there are fewer than two items.
  ///
  /// The result relies on the operators' declarations about their first axis (`Operator.splitAxes`).
  package var itemCount: Int? {
    guard let count = inputs.first.flatMap({ self[$0].type.shape.dimensions.first }), count > 1 else { return nil }
    return items(0..<1, of: count) == nil ? nil : count
  }

  /// Returns the graph for fewer items; values keep their indices.
  ///
  /// - Parameter count: A divisor of `itemCount`.
  /// - Returns: Nil if a node does not compute all parts of the items by the same operator.
  package func computing(items count: Int) -> Graph? {
    guard let all = inputs.first.flatMap({ self[$0].type.shape.dimensions.first }), count > 0, all % count == 0,
      let first = items(0..<count, of: all)
    else { return nil }
    // The rules may differ at the ends of an axis.
    for start in [count, all - count] where start < all {
      guard let other = items(start..<start + count, of: all), zip(first.nodes, other.nodes).allSatisfy(Self.areAlike)
      else { return nil }
    }
    return first
  }

  private static func areAlike(_ first: Node, _ second: Node) -> Bool {
    AnyHashable(first.op) == AnyHashable(second.op)
  }

  /// Returns the graph for a range of the items.
  private func items(_ range: Range<Int>, of all: Int) -> Graph? {
    guard states.isEmpty, extents.isEmpty else { return nil }
    var part = self
    var counts = [Bool](repeating: false, count: values.count)
    func take(_ id: ValueID) {
      counts[id.index] = true
      part[id].type.shape[0] = range.count
    }
    for input in inputs {
      guard self[input].type.shape.dimensions.first == all else { return nil }
      take(input)
    }
    for (place, node) in nodes.enumerated() where node.inputs.contains(where: { counts[$0.index] }) {
      guard let op = makeOperator(of: node, for: range, of: all, counts) else { return nil }
      let types = part.types(node.inputs)
      guard let inferred = try? op.infer(types), inferred.count == 1 else { return nil }
      take(node.outputs[0])
      guard inferred[0] == part[node.outputs[0]].type else { return nil }
      if let decomposable = op as? any DecomposableOperator {
        guard
          let made = try? Node.decomposable(
            name: node.name, op: decomposable, inputs: node.inputs, types: types, output: node.outputs[0],
            origins: node.origins)
        else { return nil }
        part.nodes[place] = made
      } else {
        part.nodes[place].op = op
      }
    }
    return outputs.allSatisfy { counts[$0.index] } ? part : nil
  }

  /// Returns the operator for a range of a node's items. It reads the same range of every operand that has items, and
  /// the other operands completely.
  private func makeOperator(of node: Node, for range: Range<Int>, of all: Int, _ counts: [Bool]) -> (any Operator)? {
    guard node.op.isPure, node.outputs.count == 1, node.regions.isEmpty || node.op is any DecomposableOperator else {
      return nil
    }
    let result = self[node.outputs[0]].type
    guard result.shape.dimensions.first == all,
      let axis = node.op.splitAxes(types(node.inputs), result).first(where: { $0.axis == 0 }),
      range.lowerBound % axis.unit == 0, range.count % axis.unit == 0, let part = axis.part(range),
      part.operands.count == node.inputs.count
    else { return nil }
    let isEach = zip(node.inputs, part.operands).allSatisfy { input, operand in
      counts[input.index] ? operand == Part.Operand(axis: 0, range: range) : operand == nil
    }
    return isEach ? part.op : nil
  }
}
