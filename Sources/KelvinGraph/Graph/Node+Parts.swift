extension Node {
  /// The name of the node that joins the parts.
  package static let joinedName = "joined"

  /// A graph on the node's operands that computes its only result in parts along an axis, and joins them.
  ///
  /// Parts of constants are constants. Parts of other operands are slices, which need not move anything: one along the
  /// first axis of more than one position is a run of elements.
  ///
  /// - Parameters:
  ///   - graph: what the node is in.
  ///   - parts: at least one; together all of the axis, in its order, each with what computes it.
  /// - Throws: `GraphError` where that does not take its operands.
  package func computed(
    in parts: [(range: Range<Int>, part: Part)], along axis: PartAxis, in graph: Graph
  ) throws(GraphError) -> Graph {
    var body = Graph()
    for (index, id) in inputs.enumerated() {
      body.inputs.append(body.addValue(Value(name: "in\(index)", type: graph[id].type)))
    }
    var results: [ValueID] = []
    func append(
      _ op: any Operator, _ inputs: [ValueID], _ type: TensorType, _ name: String
    ) throws(GraphError) -> ValueID {
      let output = body.addValue(Value(name: name, type: type))
      if let fused = op as? any FusedOperator {
        body.nodes.append(
          try .fused(name: name, op: fused, inputs: inputs, types: body.types(inputs), output: output, origins: []))
      } else {
        body.nodes.append(Node(name: name, op: op, inputs: inputs, outputs: [output], origins: []))
      }
      return output
    }
    let whole = graph[outputs[0]].type
    for (number, (range, part)) in parts.enumerated() {
      var operands = body.inputs
      for (index, cut) in part.operands.enumerated() {
        guard let cut else { continue }
        let value = graph[inputs[index]]
        let type = value.type.part(cut)
        if type == value.type { continue }
        if let weight = value.weight {
          let name = "\(value.name)[\(cut.axis):\(cut.range.lowerBound)..<\(cut.range.upperBound)]"
          operands[index] = body.addValue(Value(name: name, type: type, weight: weight.part(cut)))
        } else {
          let name = "in\(index)[\(number)]"
          operands[index] = try append(Slice(part: cut, of: value.type.shape), [body.inputs[index]], type, name)
        }
      }
      let type = whole.part(Part.Operand(axis: axis.axis, range: range))
      results.append(try append(part.op, operands, type, "part\(number)"))
    }
    body.outputs = [try append(Concat(axis: axis.axis), results, whole, Self.joinedName)]
    return body
  }
}

extension TensorType {
  /// The type of a range of positions along an axis.
  package func part(_ part: Part.Operand) -> TensorType {
    var type = self
    type.shape[part.axis] = part.range.count
    return type
  }
}

extension Slice {
  /// A range of positions along one axis, all of the others.
  package init(part: Part.Operand, of shape: Shape) {
    var (starts, counts) = (shape.dimensions.map { _ in 0 }, shape.dimensions)
    starts[part.axis] = part.range.lowerBound
    counts[part.axis] = part.range.count
    self.init(starts: starts, counts: counts, steps: starts.map { _ in 1 })
  }
}

extension Weight {
  /// A range of positions along an axis. Where elements are plain, nothing is copied before they are asked for.
  func part(_ part: Part.Operand) -> Weight {
    if case .dense(let tensor) = encoding, let run = tensor.run(part) { return Weight(run) }
    let recipe = WeightRecipe("part \(part.axis) \(part.range.lowerBound) \(part.range.count)", [self])
    return Weight(type.part(part), from: [self], recipe: recipe) { dense().part(part) }
  }

  /// The elements that a slice takes, as parts of the axes; nil where it steps over some or goes backwards.
  package func sliced(_ slice: Slice) -> Weight? {
    guard zip(slice.steps, slice.counts).allSatisfy({ $0 == 1 || $1 <= 1 }) else { return nil }
    var weight = self
    for (axis, start) in slice.starts.enumerated() where slice.counts[axis] != weight.type.shape[axis] {
      weight = weight.part(Part.Operand(axis: axis, range: start..<start + slice.counts[axis]))
    }
    return weight
  }
}
