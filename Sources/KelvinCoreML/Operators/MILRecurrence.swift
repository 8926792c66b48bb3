import KelvinGraph
import KelvinImport

extension MILMapper {
  static let recurrences: [MILMapper] = [lstm, gru, rnn]

  /// An LSTM, with gates in the order input, forget, output, cell.
  private static let lstm = MILMapper(several: "lstm") { c in
    let functions = [
      try c.function("recurrent_activation", default: "sigmoid"),
      try c.function("cell_activation", default: "tanh"),
      try c.function("activation", default: "tanh"),
    ]
    let limit = try c.number("clip") ?? .infinity
    var directions = try c.directions()
    for index in directions.indices {
      directions[index].peepholes = try c.optional("peephole\(directions[index].suffix)")
    }
    return try c.recurrent(directions) { direction in
      Recurrence(
        .lstm, functions, isReversed: direction.isReversed, hasPeepholes: direction.peepholes != nil,
        cellLimit: limit)
    }
  }

  /// A gated recurrent unit, with gates in the order reset, output, update. It resets before its product.
  private static let gru = MILMapper(several: "gru") { c in
    let functions = [
      try c.function("recurrent_activation", default: "sigmoid"),
      try c.function("activation", default: "tanh"),
    ]
    return try c.recurrent(try c.directions(), order: [2, 0, 1]) {
      Recurrence(.gru, functions, isReversed: $0.isReversed)
    }
  }

  private static let rnn = MILMapper(several: "rnn") { c in
    let function = try c.function("activation", default: "tanh")
    return try c.recurrent(try c.directions()) {
      Recurrence(.simple, [function], isReversed: $0.isReversed)
    }
  }
}

/// One direction of an operation.
private struct Direction {
  /// The suffix of its inputs' names.
  var suffix: String
  var isReversed: Bool
  var peepholes: ValueID?
}

extension MILContext {
  fileprivate func directions() throws -> [Direction] {
    switch try text("direction") ?? "forward" {
    case "forward": return [Direction(suffix: "", isReversed: false)]
    case "reverse": return [Direction(suffix: "", isReversed: true)]
    case "bidirectional":
      return [Direction(suffix: "", isReversed: false), Direction(suffix: "_back", isReversed: true)]
    case let other: throw emitter.invalid("direction '\(other)' is not known")
    }
  }

  fileprivate func function(_ input: String, default name: String) throws -> UnaryFunction {
    switch try text(input) ?? name {
    case "sigmoid": return .sigmoid
    case "tanh": return UnaryFunction(.tanh)
    case "relu": return .relu
    case "linear": return UnaryFunction(.affine, a: 1)
    case "hard_sigmoid", "sigmoid_hard": return UnaryFunction(.hardSigmoid, a: 0.2, b: 0.5)
    // The scales are 1 here.
    case "scaled_tanh": return UnaryFunction(.tanh)
    case let other: throw emitter.invalid("\(input) '\(other)' is not known")
    }
  }

  /// Emits the recurrences and returns the sequence or its last step, the last hidden state and, for an LSTM, the last
  /// cell state. The states of two directions are concatenated. The sequence of a single reversed direction is in the
  /// order of computation.
  ///
  /// - Parameter order: For each gate of `Recurrence`, its index among the operation's gates.
  fileprivate func recurrent(
    _ directions: [Direction], order: [Int]? = nil, _ op: (Direction) throws -> Recurrence
  ) throws -> [ValueID] {
    let x = try x
    let states = [try value("initial_h")] + (try optional("initial_c").map { [$0] } ?? [])
    guard emitter.shape(x).rank == 3, states.allSatisfy({ emitter.shape($0).rank == 2 }) else {
      throw emitter.invalid("expected [steps, batch, size] and states [batch, hidden], got \(emitter.type(x))")
    }
    var results: [[ValueID]] = []
    for (index, direction) in directions.enumerated() {
      let op = try op(direction)
      let step = directions.count == 1 ? "layer" : direction.isReversed ? "backward" : "forward"
      func gates(_ input: String) throws -> ValueID? {
        guard let weights = try optional(input + direction.suffix) else { return nil }
        guard let order else { return weights }
        return try emitter.blocks(order, of: weights, count: order.count, step: "\(step)/\(input)")
      }
      func state(_ state: ValueID) throws -> ValueID {
        let shape = emitter.shape(state)
        guard shape[1] % directions.count == 0 else { throw emitter.invalid("a state of \(shape) for two directions") }
        let size = shape[1] / directions.count
        return try emitter.slice(
          state,
          [SliceRange(start: 0, count: shape[0]), SliceRange(start: size == 0 ? 0 : index * size, count: size)],
          step: "\(step)/initial_\(state == states[0] ? "hidden" : "cell")")
      }
      let layer = RecurrentLayer(
        op: op, input: x, inputWeights: try required("weight_ih", gates),
        recurrentWeights: try required("weight_hh", gates), bias: try gates("bias"),
        hidden: try state(states[0]), cell: op.cell == .lstm && states.count > 1 ? try state(states[1]) : nil,
        peepholes: direction.peepholes)
      results.append(try emitter.recurrent(layer, step: step))
    }
    let returnsSequence = try flag("output_sequence")
    func joined(_ result: Int, axis: Int, output: Int?) throws -> ValueID {
      let parts = results.map { $0[result] }
      if parts.count == 1 { return parts[0] }
      return try emitter.add(Concat(axis: axis), parts, step: output == nil ? "sequence" : nil, output: output ?? 0)
    }
    let hidden = try joined(1, axis: 1, output: 1)
    let sequence: ValueID
    if !returnsSequence {
      let last = emitter.shape(hidden)
      sequence = try emitter.reshape(hidden, Shape([1] + last.dimensions))
    } else if directions.count == 1, directions[0].isReversed {
      sequence = try emitter.reversed(results[0][0])
    } else {
      sequence = try joined(0, axis: 2, output: 0)
    }
    return try [sequence, hidden] + (results[0].count > 2 ? [joined(2, axis: 1, output: 2)] : [])
  }
}
