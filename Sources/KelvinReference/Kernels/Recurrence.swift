import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addRecurrence() {
    add(Recurrence.self) { op, inputs in
      var layer = RecurrentLayer(op, inputs)
      for step in 0..<layer.steps {
        for row in 0..<layer.batch { layer.advance(row, step) }
      }
      return [layer.sequence, layer.hidden] + (op.cell == .lstm ? [layer.cell] : [])
    }
  }
}

private struct RecurrentLayer {
  let op: Recurrence
  let inputs: ReferenceInputs<Double>
  let steps: Int
  let batch: Int
  let size: Int
  var sequence: [Double]
  var hidden: [Double]
  var cell: [Double]

  init(_ op: Recurrence, _ inputs: ReferenceInputs<Double>) {
    self.op = op
    self.inputs = inputs
    (steps, batch, size) = (inputs.shape(0)[0], inputs.shape(0)[1], inputs.shape(1)[1])
    sequence = [Double](repeating: 0, count: inputs.outputs[0].count)
    hidden = inputs.values[2]
    cell = op.cellInput.map { inputs.values[$0] } ?? []
  }

  /// Computes one step of one sequence, if the sequence is that long.
  mutating func advance(_ row: Int, _ step: Int) {
    let length = op.lengthsInput.map { min(max(inputs.values[$0][row].index, 0), steps) } ?? steps
    guard step < length else { return }
    let index = (op.isReversed ? length - 1 - step : step) * batch + row
    let before = Array(hidden[row * size..<(row + 1) * size])
    let after =
      switch op.cell {
      case .lstm: lstm(row, index, before)
      case .gru: gru(index, before)
      case .simple: simple(index, before)
      }
    hidden.replaceSubrange(row * size..<(row + 1) * size, with: after)
    sequence.replaceSubrange(index * size..<(index + 1) * size, with: after)
  }

  private func simple(_ index: Int, _ before: [Double]) -> [Double] {
    (0..<size).map { unit in activate(0, x(index, 0, unit) + product(0, unit, before)) }
  }

  private func gru(_ index: Int, _ before: [Double]) -> [Double] {
    func gate(_ gate: Int) -> [Double] {
      (0..<size).map { unit in activate(0, x(index, gate, unit) + product(gate, unit, before)) }
    }
    let (update, reset) = (gate(0), gate(1))
    let resetHidden = zip(reset, before).map(*)
    let bias = op.candidateBiasInput.map { inputs.values[$0] }
    return (0..<size).map { unit in
      let term = bias.map { reset[unit] * (product(2, unit, before) + $0[unit]) } ?? product(2, unit, resetHidden)
      let candidate = activate(1, x(index, 2, unit) + term)
      return (1 - update[unit]) * candidate + update[unit] * before[unit]
    }
  }

  private mutating func lstm(_ row: Int, _ index: Int, _ before: [Double]) -> [Double] {
    let peepholes = op.peepholeInput.map { inputs.values[$0] }
    return (0..<size).map { unit in
      let old = cell[row * size + unit]
      func gate(_ gate: Int, _ function: Int, _ seen: Double = 0) -> Double {
        let peephole = gate < 3 ? peepholes.map { $0[gate * size + unit] * seen } ?? 0 : 0
        return activate(function, x(index, gate, unit) + product(gate, unit, before) + peephole)
      }
      let input = gate(0, 0, old)
      let forget = op.couplesGates ? 1 - input : gate(1, 0, old)
      let limit = Double(op.cellLimit)
      let sum = forget * old + input * gate(3, 1)
      let new = sum.isNaN ? sum : min(max(sum, -limit), limit)
      cell[row * size + unit] = new
      return gate(2, 0, new) * op.activations[2].evaluate(new)
    }
  }

  private func x(_ index: Int, _ gate: Int, _ unit: Int) -> Double {
    inputs.values[0][(index * op.cell.gates.count + gate) * size + unit]
  }

  private func product(_ gate: Int, _ unit: Int, _ state: [Double]) -> Double {
    let first = (gate * size + unit) * size
    return state.indices.reduce(0) { $0 + inputs.values[1][first + $1] * state[$1] }
  }

  private func activate(_ function: Int, _ sum: Double) -> Double {
    let limit = Double(op.gateLimit)
    return op.activations[function].evaluate(sum.isNaN ? sum : min(max(sum, -limit), limit))
  }
}
