package import KelvinGraph

/// A recurrent layer in one direction, with its gates in the order of `Recurrence.Cell.gates`.
package struct RecurrentLayer {
  package var op: Recurrence
  /// `[steps, batch, size]`
  package var input: ValueID
  /// `[gates · hidden, size]`
  package var inputWeights: ValueID
  /// `[gates · hidden, hidden]`
  package var recurrentWeights: ValueID
  /// `[gates · hidden]`
  package var bias: ValueID?
  /// `[batch, hidden]`; zeros if omitted.
  package var hidden: ValueID?
  package var cell: ValueID?
  package var peepholes: ValueID?
  package var candidateBias: ValueID?
  package var lengths: ValueID?

  package init(
    op: Recurrence, input: ValueID, inputWeights: ValueID, recurrentWeights: ValueID, bias: ValueID? = nil,
    hidden: ValueID? = nil, cell: ValueID? = nil, peepholes: ValueID? = nil, candidateBias: ValueID? = nil,
    lengths: ValueID? = nil
  ) {
    self.op = op
    self.input = input
    self.inputWeights = inputWeights
    self.recurrentWeights = recurrentWeights
    self.bias = bias
    self.hidden = hidden
    self.cell = cell
    self.peepholes = peepholes
    self.candidateBias = candidateBias
    self.lengths = lengths
  }
}

extension Emitter {
  /// Returns the sequence of hidden states, the last one and, for an LSTM, the last cell state.
  package func recurrent(_ layer: RecurrentLayer, step: String) throws -> [ValueID] {
    let (x, weights) = (type(layer.input), type(layer.recurrentWeights))
    guard x.shape.rank == 3, weights.shape.rank == 2 else { throw invalid("takes \(x) and \(weights)") }
    var gates: ValueID
    if weight(layer.inputWeights) != nil {
      let operands = [layer.input, layer.inputWeights] + (layer.bias.map { [$0] } ?? [])
      gates = try add(
        Linear(epilogue: Epilogue(hasBias: layer.bias != nil)), operands, step: "\(step)/gates")
    } else {
      gates = try add(MatMul(transposesY: true), layer.input, layer.inputWeights, step: "\(step)/gates")
      if let bias = layer.bias { gates = try binary(.add, gates, bias, step: "\(step)/biased_gates") }
    }
    let state = TensorType(x.scalar, [x.shape[1], weights.shape[1]])
    let initial = layer.hidden ?? zeros(state, step: "\(step)/initial_hidden")
    var operands = [gates, layer.recurrentWeights, initial]
    if layer.op.cell == .lstm { operands.append(layer.cell ?? zeros(state, step: "\(step)/initial_cell")) }
    for operand in [layer.peepholes, layer.candidateBias, layer.lengths] {
      if let operand { operands.append(operand) }
    }
    return try addAll(layer.op, operands, step: step)
  }

  /// Reverses the steps of a sequence; a reversed recurrence is in the order of computation.
  package func reversed(_ sequence: ValueID, step: String? = nil) throws -> ValueID {
    let count = shape(sequence)[0]
    return try slice(sequence, axis: 0, SliceRange(start: max(count - 1, 0), count: count, step: -1), step: step)
  }

  /// Returns blocks of rows, `[blocks · rows, …]`, in another order or fewer of them; for a weight the result is a
  /// weight.
  package func blocks(_ order: [Int], of x: ValueID, count: Int, step: String) throws -> ValueID {
    let source = shape(x)
    guard source.rank >= 1, count > 0, source[0] % count == 0, order.allSatisfy((0..<count).contains) else {
      throw invalid("\(step): \(type(x)) is not \(count) blocks of rows")
    }
    if order == Array(0..<count) { return x }
    let rows = source[0] / count
    var sizes = source
    sizes[0] = rows * order.count
    let kept = derived(x, TensorType(scalar(x), sizes), step: step, recipe: "blocks \(order) of \(count)") { tensor in
      .joined(order.map { tensor.part(Part.Operand(axis: 0, range: $0 * rows..<($0 + 1) * rows)) })
    }
    if let kept { return kept }
    let parts = try order.map { block in
      let range = SliceRange(start: rows == 0 ? 0 : block * rows, count: rows)
      return try slice(x, axis: 0, range, step: "\(step)/block_\(block)")
    }
    return parts.count == 1 ? parts[0] : try concat(parts, axis: 0, step: step)
  }
}
