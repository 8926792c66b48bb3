extension Node {
  /// The name of the node that concatenates the parts.
  package static let joinedName = "joined"

  /// Returns a graph on the node's operands that computes its only result in parts along an axis and concatenates them.
  ///
  /// Parts of constants are constants. Parts of other operands are slices. A slice along the first axis of more than
  /// one position is contiguous, so that it need not be copied.
  ///
  /// - Parameters:
  ///   - graph: The graph of the node.
  ///   - parts: At least one part; together they cover the axis, in order. Each has its operator and operands.
  /// - Throws: `GraphError` if an operator does not support its operands.
  package func computed(
    in parts: [(range: Range<Int>, part: Part)], along axis: SplitAxis, in graph: Graph
  ) throws(GraphError) -> Graph {
    var body = Graph(bodyOf: graph.types(inputs))
    var results: [ValueID] = []
    func append(
      _ op: any Operator, _ inputs: [ValueID], _ type: TensorType, _ name: String
    ) throws(GraphError) -> ValueID {
      guard let decomposable = op as? any DecomposableOperator else { return body.append(op, inputs, name, type) }
      let output = body.addValue(Value(name: name, type: type))
      body.nodes.append(
        try .decomposable(
          name: name, op: decomposable, inputs: inputs, types: body.types(inputs), output: output, origins: []))
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
  /// Returns the type of a range of positions along an axis.
  package func part(_ part: Part.Operand) -> TensorType {
    var type = self
    type.shape[part.axis] = part.range.count
    return type
  }
}

extension Slice {
  /// Creates a slice of a range of positions along one axis, and of all positions of the others.
  package init(part: Part.Operand, of shape: Shape) {
    var (starts, counts) = (shape.dimensions.map { _ in 0 }, shape.dimensions)
    starts[part.axis] = part.range.lowerBound
    counts[part.axis] = part.range.count
    self.init(starts: starts, counts: counts, steps: starts.map { _ in 1 })
  }
}

extension Weight {
  /// Returns a range of positions along an axis. Dense elements are not copied before they are needed.
  func part(_ part: Part.Operand) -> Weight {
    if case .dense(let tensor) = encoding, let run = tensor.run(part) { return Weight(run) }
    let recipe = WeightRecipe("part \(part.axis) \(part.range.lowerBound) \(part.range.count)", [self])
    return Weight(type.part(part), from: [self], recipe: recipe) { dense().part(part) }
  }

  /// Returns the elements of a slice as parts of the axes; nil if the slice skips elements or has a negative step.
  package func sliced(_ slice: Slice) -> Weight? {
    guard zip(slice.steps, slice.counts).allSatisfy({ $0 == 1 || $1 <= 1 }) else { return nil }
    var weight = self
    for (axis, start) in slice.starts.enumerated() where slice.counts[axis] != weight.type.shape[axis] {
      weight = weight.part(Part.Operand(axis: axis, range: start..<start + slice.counts[axis]))
    }
    return weight
  }
}
