import KelvinCPU
import KelvinDevices
import KelvinGraph
import Testing

/// A graph of one node: its first input is given at run time, the others are weights.
func oneNode(
  _ op: any Operator, _ x: Tensor, weights: [Tensor] = [], inputs: [Tensor] = []
) throws -> (graph: Graph, inputs: [Tensor]) {
  var graph = Graph()
  var ids: [ValueID] = []
  for (index, tensor) in ([x] + weights + inputs).enumerated() {
    let isWeight = (1...max(weights.count, 1)).contains(index) && !weights.isEmpty
    let id = graph.addValue(
      Value(name: "operand\(index)", type: tensor.type, weight: isWeight ? Weight(tensor) : nil))
    ids.append(id)
    if !isWeight { graph.inputs.append(id) }
  }
  let outputs = try op.infer(graph.types(ids)).enumerated().map { graph.addValue(Value(name: "result\($0)", type: $1)) }
  if let fused = op as? any DecomposableOperator {
    let types = graph.types(ids)
    graph.nodes = [
      try .decomposable(name: "node", op: fused, inputs: ids, types: types, output: outputs[0], origins: [])
    ]
  } else {
    graph.nodes = [Node(name: "node", op: op, inputs: ids, outputs: outputs, origins: [])]
  }
  graph.outputs = outputs
  try graph.verify()
  return (graph, [x] + inputs)
}

/// A graph of one node on constants and inputs.
func oneNode(_ op: any Operator, _ operands: [(type: TensorType, weight: Weight?)]) throws -> Graph {
  var graph = Graph()
  let ids = operands.enumerated().map { index, operand in
    graph.addValue(Value(name: "x\(index)", type: operand.type, weight: operand.weight))
  }
  graph.inputs = ids.filter { graph[$0].weight == nil }
  let output = graph.addValue(Value(name: "y", type: try op.infer(graph.types(ids))[0]))
  graph.nodes = [Node(name: "node", op: op, inputs: ids, outputs: [output], origins: [])]
  // The reference computes activations by the body.
  graph.nodes[0].body = try (op as? any DecomposableOperator)?.decomposition(graph.types(ids))
  graph.outputs = [output]
  return graph
}

/// Expects two tensors of one type whose elements differ by less than a limit.
func expectClose(_ result: Tensor, _ expected: Tensor, within limit: Double) {
  let worst = zip(result.doubles, expected.doubles).map { abs($0 - $1) }.max() ?? .infinity
  #expect(result.type == expected.type && worst < limit, "off by \(worst)")
}

extension CPUDevice {
  /// Whether it multiplies operands that are less exact than float32 where that is asked for.
  var rounds: Bool {
    let x = Tensor(TensorType(.float32, [1, 1]), rounding: [1])
    guard let (graph, _) = try? oneNode(Linear(), x, weights: [x]) else { return false }
    return effectivePrecision(.low, of: graph.nodes[0], in: graph) == .low
  }
}

extension Tensor {
  /// Root of the mean square of the differences.
  func error(from exact: Tensor) -> Double {
    let squares = zip(doubles, exact.doubles).map { ($0 - $1) * ($0 - $1) }
    return (squares.reduce(0, +) / Double(max(squares.count, 1))).squareRoot()
  }

  /// The nearest elements of eight significand bits, ties to even.
  func roundedToBFloat16() -> Tensor {
    let values = floats.map { value -> Double in
      let bits = value.bitPattern
      return Double(Float(bitPattern: (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF_0000))
    }
    return Tensor(type, rounding: values)
  }
}
