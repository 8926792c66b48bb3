import KelvinConformance
package import KelvinDevices
package import KelvinGraph

/// The results of a graph's nodes, each checked on its own.
package struct NodeCheck: Sendable {
  /// The number of nodes whose results agree with the reference.
  package var agreed = 0
  /// The number of nodes with operands so large that the result depends on the order of a float32 sum.
  package var unordered = 0
  /// The differences, one line for each node.
  package var differences: [String] = []

  package init() {}
}

/// Runs a graph on a device, and recomputes every node on the reference from the device's own operands. Rounding or
/// an infinity in an earlier node therefore does not hide errors of a later node.
///
/// - Parameter graph: a graph of float32 and integers whose nodes the device supports.
package func checkNodes(
  of device: any Device, on graph: Graph, _ inputs: [Tensor], reference: any Device
) throws(DeviceError) -> NodeCheck {
  var watched = graph
  watched.outputs = graph.nodes.flatMap(\.outputs)
  let results = try device.run(watched, inputs).outputs
  var values = Dictionary(uniqueKeysWithValues: zip(graph.inputs, inputs))
  for (id, result) in zip(watched.outputs, results) { values[id] = result }
  var check = NodeCheck()
  for node in graph.nodes {
    let operands = node.inputs.map { values[$0] ?? graph[$0].weight?.dense() }.compactMap(\.self)
    guard node.keepsItsRange(operands) else {
      check.unordered += 1
      continue
    }
    let alone = graph.alone(node)
    let rule = SpecialValueRule(device.info, alone)
    let expected = try rule.operands(operands).map { (operands) throws(DeviceError) in
      try reference.run(alone, operands).outputs
    }
    let terms = try alone.terms(of: node, operands, reference)
    let differences = node.outputs.indices.compactMap { index -> String? in
      guard let output = values[node.outputs[index]] else { return nil }
      return rule.difference(
        of: output, from: expected.map { $0[index] }, alone.tolerance(.full), terms: terms)
    }
    if let first = differences.first {
      let read = operands.map { "\($0.type)" }.joined(separator: ", ")
      check.differences.append("\(node.name) \(node.op) of \(read) on \(device.info.id): \(first)")
    } else {
      check.agreed += 1
    }
  }
  return check
}

extension Graph {
  /// Returns a graph of one node whose operands are all inputs.
  fileprivate func alone(_ node: Node) -> Graph {
    var graph = Graph()
    let operands = node.inputs.enumerated().map { index, id in
      graph.addValue(Value(name: "operand\(index)", type: self[id].type))
    }
    let results = node.outputs.enumerated().map { index, id in
      graph.addValue(Value(name: "result\(index)", type: self[id].type))
    }
    var alone = node
    alone.inputs = operands
    alone.outputs = results
    graph.nodes = [alone]
    graph.inputs = operands
    graph.outputs = results
    return graph
  }
}

extension Graph {
  /// Returns the magnitude of the terms that a node adds up, to which its rounding errors are proportional.
  fileprivate func terms(
    of node: Node, _ operands: [Tensor], _ reference: any Device
  ) throws(DeviceError) -> Double {
    guard (node.body?.nodes.map(\.op.reach).max() ?? node.op.reach) > .elements else { return 0 }
    if node.magnifiesASum { return .infinity }
    var inside = node.body ?? self
    inside.outputs = inside.nodes.flatMap(\.outputs)
    let magnitudes = operands.map(\.magnitude)
    let largest = (magnitudes + (try reference.run(inside, magnitudes).outputs)).compactMap(\.largest).max() ?? 0
    // The factor 1 / sqrt(epsilon) magnifies differences in a row of equal elements.
    return (node.op as? LayerNormalization).map { largest / Double($0.epsilon).squareRoot() } ?? largest
  }
}

extension Node {
  /// Whether a steep function, or one with a pole, is applied to a sum. If terms cancel, the result may be any number
  /// except not-a-number.
  fileprivate var magnifiesASum: Bool {
    if let op = op as? Reduce { return op.function == .logSum }
    let calm: [UnaryFunction.Kind] = [.relu, .clip, .leakyRelu, .sigmoid, .hardSigmoid, .hardSwish, .silu, .tanh]
    return body?.nodes.contains { ($0.op as? Unary).map { !calm.contains($0.function.kind) } ?? false } ?? false
  }

  /// Whether float32 sums stay in range for every order of terms, and cancellation is not magnified.
  fileprivate func keepsItsRange(_ operands: [Tensor]) -> Bool {
    let ops = [op] + (body?.nodes.map(\.op) ?? [])
    guard let reach = ops.map(\.reach).max(), reach > .elements else { return true }
    let largest = operands.compactMap(\.largest).max() ?? 0
    if body != nil || ops.contains(where: { ($0 as? Reduce)?.function == .logSum }) { return largest < 0x1p10 }
    switch reach {
    case .elements, .sums: return largest < 0x1p100
    case .squares: return largest < 0x1p55
    // At most 64 factors.
    case .products: return largest < 4
    case .exponents: return largest < 16
    }
  }
}

extension Tensor {
  /// The largest finite magnitude of floating-point elements, or nil.
  fileprivate var largest: Double? {
    type.scalar.isFloatingPoint ? doubles.lazy.filter(\.isFinite).map(\.magnitude).max() : nil
  }

  fileprivate var magnitude: Tensor {
    type.scalar.isFloatingPoint ? Tensor(type, rounding: doubles.map(\.magnitude)) : self
  }
}
