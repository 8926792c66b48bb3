import KelvinGraph

extension IntegerMatcher {
  /// Fuses a sum or product of two dequantized tensors.
  mutating func fuse(_ op: Binary, _ core: Node, _ chain: [Int], _ result: QuantizedValue) {
    guard op.function == .add || op.function == .multiply, let x = dequantized(core.inputs[0]),
      let y = dequantized(core.inputs[1]), x.scalar == result.scalar, y.scalar == result.scalar
    else { return }
    let inputs = [x.id, y.id, x.scaleID, x.zeroID, y.scaleID, y.zeroID, result.scaleID, result.zeroID]
    var node = Node(
      name: core.name, op: BinaryInteger(op.function), inputs: inputs, outputs: [result.id], origins: [])
    node.body = body(op, core, inputs, result)
    replace(chain, by: node, absorbing: [[x.node], [y.node]], "computed on 8-bit integers")
  }

  /// Returns the float operators on the inputs of a `BinaryInteger`.
  private func body(_ op: Binary, _ core: Node, _ inputs: [ValueID], _ result: QuantizedValue) -> Graph {
    var body = Graph(bodyOf: inputs.map(edits.type))
    let all = body.inputs
    let x = body.append(
      Dequantize(), [all[0], all[2], all[3]], "x", TensorType(.float32, edits.type(inputs[0]).shape))
    let y = body.append(
      Dequantize(), [all[1], all[4], all[5]], "y", TensorType(.float32, edits.type(inputs[1]).shape))
    let real = body.append(op, [x, y], "real", edits.type(core.outputs[0]))
    body.outputs = [
      body.append(Quantize(scalar: result.scalar), [real, all[6], all[7]], "quantized", edits.type(result.id))
    ]
    return body
  }

  /// Moves an operator that only moves or compares elements to integers, between equal scales and zero points.
  mutating func move(_ core: Node, _ chain: [Int], _ result: QuantizedValue) {
    var op = core.op
    var operands = core.inputs
    switch core.op {
    case is Reshape, is Transpose, is Slice, is Expand: break
    case let pool as Pool where pool.function == .maximum && pool.window.rank <= 2: break
    case is Concat: break
    case is Gather: operands = [core.inputs[0]]
    case let pad as Pad:
      if case .constant(let value) = pad.mode {
        let places = (value / result.scale).rounded(.toNearestOrEven)
        guard abs(places) <= 255, let range = result.scalar.quantizedRange,
          range.contains(Int(places) + result.zero)
        else { return }
        op = Pad(before: pad.before, after: pad.after, mode: .constant(Float(Int(places) + result.zero)))
      }
    default: return
    }
    let sources = operands.compactMap { dequantized($0) }
    guard sources.count == operands.count, sources.allSatisfy({ $0.hasParameters(of: result) }) else { return }
    let inputs = sources.map(\.id) + core.inputs.dropFirst(operands.count)
    let node = Node(
      name: core.name, op: op, inputs: inputs, outputs: [result.id], origins: [],
      body: body(moving: op, inputs, count: sources.count, result))
    replace(chain, by: node, absorbing: sources.map { [$0.node] }, "moves 8-bit integers")
  }

  /// Returns the same computation in floating point, on the integers' values.
  ///
  /// - Parameter count: The number of inputs whose elements move; the other inputs are parameters.
  private func body(moving op: any Operator, _ inputs: [ValueID], count: Int, _ result: QuantizedValue) -> Graph? {
    var body = Graph(bodyOf: inputs.map(edits.type))
    let one = body.constant("one", Weight(Tensor([Float(1)], [1])))
    let zero = body.constant("zero", Weight(Tensor(TensorType(result.scalar, [1]), rounding: [0])))
    var operands = body.inputs
    for index in 0..<count {
      let type = TensorType(.float32, body[operands[index]].type.shape)
      operands[index] = body.append(Dequantize(), [operands[index], one, zero], "real\(index)", type)
    }
    guard let type = try? op.infer(body.types(operands)).first else { return nil }
    let moved = body.append(op, operands, "moved", type)
    body.outputs = [
      body.append(Quantize(scalar: result.scalar), [moved, one, zero], "quantized", edits.type(result.id))
    ]
    return body
  }
}
