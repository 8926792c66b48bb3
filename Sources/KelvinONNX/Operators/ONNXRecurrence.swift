import KelvinGraph
import KelvinImport

extension ONNXMapper {
  static let recurrences: [ONNXMapper] = [lstm, gru, rnn]

  /// An LSTM, with gates in the order input, output, forget, cell.
  private static let lstm = ONNXMapper("LSTM") { c in
    try c.recurrent(.lstm, gates: [0, 2, 1, 3], functions: ["Sigmoid", "Tanh", "Tanh"]) { direction, functions in
      Recurrence(
        .lstm, functions, isReversed: direction.isReversed, hasPeepholes: c.optional(7) != nil,
        couplesGates: c.flag("input_forget"), hasLengths: c.optional(4) != nil,
        gateLimit: c.float("clip", default: .infinity))
    }
  }

  /// A gated recurrent unit, with gates in the order update, reset, candidate.
  private static let gru = ONNXMapper("GRU") { c in
    try c.recurrent(.gru, gates: [0, 1, 2], functions: ["Sigmoid", "Tanh"]) { direction, functions in
      Recurrence(
        .gru, functions, isReversed: direction.isReversed, resetsAfterProduct: c.flag("linear_before_reset"),
        hasLengths: c.optional(4) != nil, gateLimit: c.float("clip", default: .infinity))
    }
  }

  private static let rnn = ONNXMapper("RNN") { c in
    try c.recurrent(.simple, gates: [0], functions: ["Tanh"]) { direction, functions in
      Recurrence(
        .simple, functions, isReversed: direction.isReversed, hasLengths: c.optional(4) != nil,
        gateLimit: c.float("clip", default: .infinity))
    }
  }
}

/// One direction of an operator.
private struct Direction {
  var index: Int
  var isReversed: Bool
  var step: String { isReversed ? "backward" : "forward" }
}

extension ONNXOperation {
  /// Emits the recurrences of all directions.
  ///
  /// - Parameters:
  ///   - gates: For each gate of the cell, its index among the operator's gates.
  ///   - names: The default functions of the operator.
  fileprivate func recurrent(
    _ cell: Recurrence.Cell, gates: [Int], functions names: [String],
    _ op: (Direction, [UnaryFunction]) throws -> Recurrence
  ) throws -> [ValueID] {
    let directions: [Direction]
    switch text("direction", default: "forward") {
    case "forward": directions = [Direction(index: 0, isReversed: false)]
    case "reverse": directions = [Direction(index: 0, isReversed: true)]
    case "bidirectional": directions = [Direction(index: 0, isReversed: false), Direction(index: 1, isReversed: true)]
    case let other: throw unsupported("direction '\(other)' is not known")
    }
    let isBatchFirst = flag("layout")
    let given = try input(0)
    guard emitter.shape(given).rank == 3 else {
      throw emitter.invalid("expected [steps, batch, size], got \(emitter.type(given))")
    }
    let x = isBatchFirst ? try emitter.transpose(given, [1, 0, 2], step: "steps_first") : given
    let functions = try functions(names, directions: directions.count)
    var results: [[ValueID]] = []
    for direction in directions {
      let layer = try layer(
        op(direction, functions[direction.index]), direction, of: directions.count, gates, x, isBatchFirst)
      results.append(try emitter.recurrent(layer, step: direction.step))
    }
    // [steps, directions, batch, hidden] and [directions, batch, hidden], or with the batch first.
    let order = isBatchFirst ? [2, 0, 1, 3] : [0, 1, 2, 3]
    let last = isBatchFirst ? [1, 0, 2] : [0, 1, 2]
    var outputs = [try together(results.map { $0[0] }, axis: 1, order, output: 0)]
    for result in results[0].indices.dropFirst() {
      outputs.append(try together(results.map { $0[result] }, axis: 0, last, output: result))
    }
    return outputs
  }

  /// Returns the results of all directions, joined along an axis of their own.
  private func together(_ parts: [ValueID], axis: Int, _ order: [Int], output: Int) throws -> ValueID {
    let name = "output_\(output)"
    var raised: [ValueID] = []
    for (index, part) in parts.enumerated() {
      var sizes = emitter.shape(part).dimensions
      sizes.insert(1, at: axis)
      raised.append(try emitter.reshape(part, Shape(sizes), step: "\(name)/\(index)"))
    }
    let joined =
      raised.count == 1 ? raised[0] : try emitter.add(Concat(axis: axis), raised, step: "\(name)/joined")
    return try emitter.transpose(joined, order, step: name)
  }

  private func layer(
    _ op: Recurrence, _ direction: Direction, of directions: Int, _ gates: [Int], _ x: ValueID, _ isBatchFirst: Bool
  ) throws -> RecurrentLayer {
    /// Returns blocks of rows of one direction of `[directions, rows, …]`.
    func blocks(_ index: Int, _ order: [Int], of count: Int, _ name: String) throws -> ValueID? {
      guard let id = optional(index) else { return nil }
      let shape = emitter.shape(id)
      guard shape.rank >= 2, shape[0] == directions else {
        throw emitter.invalid("\(name): expected \(directions) directions, got \(emitter.type(id))")
      }
      let rows = Shape([shape[0] * shape[1]] + Array(shape.dimensions.dropFirst(2)))
      return try emitter.blocks(
        order.map { direction.index * count + $0 }, of: try emitter.reshape(id, rows, step: "\(name)_rows"),
        count: directions * count, step: "\(direction.step)/\(name)")
    }
    func state(_ index: Int, _ name: String) throws -> ValueID? {
      guard let id = optional(index) else { return nil }
      let first = isBatchFirst ? try emitter.transpose(id, [1, 0, 2], step: "\(name)_steps_first") : id
      let shape = emitter.shape(first)
      guard shape.rank == 3, shape[0] == directions else {
        throw emitter.invalid("\(name): expected \(directions) directions, got \(emitter.type(id))")
      }
      let rows = try emitter.blocks([direction.index], of: first, count: directions, step: "\(direction.step)/\(name)")
      return try emitter.reshape(
        rows, Shape(Array(shape.dimensions.dropFirst())), step: "\(direction.step)/\(name)_rows")
    }
    guard let weights = try blocks(1, gates, of: gates.count, "weights"),
      let recurrent = try blocks(2, gates, of: gates.count, "recurrent_weights")
    else { throw emitter.invalid("it has no weights") }
    // The biases of all gates for inputs, then those for states.
    var bias = try blocks(3, gates, of: 2 * gates.count, "bias")
    let stateGates = gates.map { gates.count + $0 }
    var candidateBias: ValueID?
    if let inputs = bias, let states = try blocks(3, stateGates, of: 2 * gates.count, "state_bias") {
      var added = states
      if op.resetsAfterProduct {
        candidateBias = try emitter.blocks([2], of: states, count: 3, step: "\(direction.step)/candidate_bias")
        let hidden = emitter.shape(states).count / 3
        let others = try emitter.blocks([0, 1], of: states, count: 3, step: "\(direction.step)/gate_bias")
        added = try emitter.pad(
          others, before: [0], after: [hidden], mode: .constant(0), step: "\(direction.step)/gates_alone")
      }
      bias = try emitter.binary(.add, inputs, added, step: "\(direction.step)/bias_sum")
    } else if op.resetsAfterProduct {
      let hidden = emitter.shape(recurrent).dimensions.last ?? 0
      candidateBias = emitter.zeros(TensorType(emitter.scalar(recurrent), [hidden]), step: "\(direction.step)/no_bias")
    }
    // In the order input, output and forget gate.
    let peepholes = try op.hasPeepholes ? blocks(7, [0, 2, 1], of: 3, "peepholes") : nil
    let lengths = try op.hasLengths ? optional(4).map { try emitter.cast($0, to: .int32, step: "lengths") } : nil
    return RecurrentLayer(
      op: op, input: x, inputWeights: weights, recurrentWeights: recurrent, bias: bias,
      hidden: try state(5, "initial_hidden"), cell: op.cell == .lstm ? try state(6, "initial_cell") : nil,
      peepholes: peepholes, candidateBias: candidateBias, lengths: lengths)
  }

  /// Returns the functions of each direction from the operator's attributes.
  private func functions(_ names: [String], directions: Int) throws -> [[UnaryFunction]] {
    let given = node.attributes["activations"]?.strings ?? []
    let all = given.isEmpty ? (0..<directions).flatMap { _ in names } : given
    guard all.count == directions * names.count else {
      throw emitter.invalid("\(all.count) activations, expected \(directions * names.count)")
    }
    var alphas = (node.attributes["activation_alpha"]?.floats ?? [])[...]
    var betas = (node.attributes["activation_beta"]?.floats ?? [])[...]
    // Functions with parameters take them from the lists in order.
    func function(_ name: String) throws -> UnaryFunction {
      func alpha(_ standard: Float) -> Float { alphas.popFirst() ?? standard }
      func beta(_ standard: Float) -> Float { betas.popFirst() ?? standard }
      switch name.lowercased() {
      case "sigmoid": return .sigmoid
      case "tanh": return UnaryFunction(.tanh)
      case "relu": return .relu
      case "softsign": return UnaryFunction(.softsign)
      case "softplus": return UnaryFunction(.softplus)
      case "affine": return UnaryFunction(.affine, a: alpha(1), b: beta(0))
      case "leakyrelu": return UnaryFunction(.leakyRelu, a: alpha(0.01))
      case "thresholdedrelu": return UnaryFunction(.thresholdedRelu, a: alpha(1))
      case "scaledtanh": return UnaryFunction(.scaledTanh, a: alpha(1), b: beta(1))
      case "hardsigmoid": return UnaryFunction(.hardSigmoid, a: alpha(0.2), b: beta(0.5))
      case "elu": return UnaryFunction(.elu, a: alpha(1))
      default: throw unsupported("activation '\(name)' is not known")
      }
    }
    let functions = try all.map(function)
    return (0..<directions).map { Array(functions[$0 * names.count..<($0 + 1) * names.count]) }
  }
}
