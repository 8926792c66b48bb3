import KelvinGraph
import KelvinImport

extension LayerMapper {
  /// Recurrent layers over `[Sequence, Batch, Channel, 1, 1]`.
  static let recurrences: [LayerMapper] = [simpleRecurrent, gru, uniDirectionalLSTM, biDirectionalLSTM]

  private static let simpleRecurrent = LayerMapper(several: Layers.simpleRecurrent) { c in
    typealias Fields = LayerSchema.SimpleRecurrentLayerParams
    let reader = GateReader(parameters: c.parameters, weights: c.parameters, emitter: c.emitter)
    let sizes = try reader.sizes(Fields.inputVectorSize, Fields.outputVectorSize)
    let function = try c.message(Fields.activation).flatMap { try $0.recurrentFunction() }
    var direction = Direction(
      Recurrence(.simple, [function ?? .sigmoid], isReversed: try c.flag(Fields.reverseInput), gateLimit: gateLimit),
      try reader.joined([Fields.weightMatrix], [sizes.hidden, sizes.input], "weights"),
      try reader.joined([Fields.recursionMatrix], [sizes.hidden, sizes.hidden], "recurrent_weights"))
    if try c.flag(Fields.hasBiasVector) {
      direction.bias = try reader.joined([Fields.biasVector], [sizes.hidden], "bias")
    }
    return try c.recurrent([direction], returnsSequence: c.flag(Fields.sequenceOutput))
  }

  /// A gated recurrent unit that resets before its product.
  private static let gru = LayerMapper(several: Layers.gru) { c in
    typealias Fields = LayerSchema.GRULayerParams
    let reader = GateReader(parameters: c.parameters, weights: c.parameters, emitter: c.emitter)
    let sizes = try reader.sizes(Fields.inputVectorSize, Fields.outputVectorSize)
    let functions = try reader.functions(Fields.activations, count: 2)
    var direction = Direction(
      Recurrence(.gru, functions, isReversed: try c.flag(Fields.reverseInput), gateLimit: gateLimit),
      try reader.joined(
        [Fields.updateGateWeightMatrix, Fields.resetGateWeightMatrix, Fields.outputGateWeightMatrix],
        [sizes.hidden, sizes.input], "weights"),
      try reader.joined(
        [Fields.updateGateRecursionMatrix, Fields.resetGateRecursionMatrix, Fields.outputGateRecursionMatrix],
        [sizes.hidden, sizes.hidden], "recurrent_weights"))
    if try c.flag(Fields.hasBiasVectors) {
      direction.bias = try reader.joined(
        [Fields.updateGateBiasVector, Fields.resetGateBiasVector, Fields.outputGateBiasVector], [sizes.hidden], "bias")
    }
    return try c.recurrent([direction], returnsSequence: c.flag(Fields.sequenceOutput))
  }

  private static let uniDirectionalLSTM = LayerMapper(several: Layers.uniDirectionalLSTM) { c in
    typealias Fields = LayerSchema.UniDirectionalLSTMLayerParams
    guard let weights = try c.parameters.messages(Fields.weightParams).first else {
      throw c.emitter.invalid("it has no weights")
    }
    let way = try c.direction(weights, functions: Fields.activations, isReversed: c.flag(Fields.reverseInput), "")
    return try c.recurrent([way], returnsSequence: c.lstmFlag(LayerSchema.LSTMParams.sequenceOutput))
  }

  private static let biDirectionalLSTM = LayerMapper(several: Layers.biDirectionalLSTM) { c in
    typealias Fields = LayerSchema.BiDirectionalLSTMLayerParams
    let weights = try c.parameters.messages(Fields.weightParams)
    guard weights.count == 2 else { throw c.emitter.invalid("weights of \(weights.count) directions, expected 2") }
    let ways = [
      try c.direction(weights[0], functions: Fields.activationsForwardLSTM, isReversed: false, "forward_"),
      try c.direction(weights[1], functions: Fields.activationsBackwardLSTM, isReversed: true, "backward_"),
    ]
    return try c.recurrent(ways, returnsSequence: c.lstmFlag(LayerSchema.LSTMParams.sequenceOutput))
  }
}

/// The inputs of gate functions are clamped to the range from the negative of this limit to the limit.
///
/// Reference: the formulas of NeuralNetwork.proto.
private let gateLimit: Float = 50

/// One direction of a layer.
private struct Direction {
  var op: Recurrence
  var weights: ValueID
  var recurrentWeights: ValueID
  var bias: ValueID?
  var peepholes: ValueID?

  init(_ op: Recurrence, _ weights: ValueID, _ recurrentWeights: ValueID) {
    self.op = op
    self.weights = weights
    self.recurrentWeights = recurrentWeights
  }
}

/// A reader of a layer's gates, whose weights are in separate fields.
private struct GateReader {
  let parameters: LayerParameters
  let weights: LayerParameters
  let emitter: Emitter

  func sizes(_ input: Int, _ output: Int) throws -> (input: Int, hidden: Int) {
    let sizes = (input: try parameters.integer(input) ?? 0, hidden: try parameters.integer(output) ?? 0)
    guard sizes.input > 0, sizes.hidden > 0 else {
      throw emitter.invalid("vectors of \(sizes.input) in and \(sizes.hidden) out")
    }
    return sizes
  }

  func joined(_ fields: [Int], _ shape: Shape, _ step: String) throws -> ValueID {
    let gates = try fields.map { field in
      guard let gate = try weights.message(field) else { throw emitter.invalid("\(step): a gate has none") }
      return try LayerWeights(gate).weight(shape)
    }
    return emitter.constant(gates.count == 1 ? gates[0] : .joined(gates), step: step)
  }

  func functions(_ field: Int, count: Int) throws -> [UnaryFunction] {
    let functions = try parameters.messages(field)
    guard functions.count == count else {
      throw emitter.invalid("\(functions.count) activations, expected \(count)")
    }
    return try functions.map { function in
      guard let known = try function.recurrentFunction() else {
        throw emitter.invalid("the function of a gate is not known")
      }
      return known
    }
  }
}

extension LayerParameters {
  /// Returns the function of a gate. Omitted parameters have the defaults of recurrent layers.
  fileprivate func recurrentFunction() throws -> UnaryFunction? {
    guard let function = try function() else { return nil }
    guard function.a == 0, function.b == 0 else { return function }
    return switch function.kind {
    case .affine: UnaryFunction(.affine, a: 1)
    case .hardSigmoid: UnaryFunction(.hardSigmoid, a: 0.2, b: 0.5)
    case .scaledTanh: UnaryFunction(.tanh)
    default: function
    }
  }
}

extension LayerContext {
  /// Returns the parameters that both LSTM layers have in the same field.
  fileprivate func lstm() throws -> LayerParameters? {
    try message(LayerSchema.UniDirectionalLSTMLayerParams.params)
  }

  fileprivate func lstmFlag(_ field: Int) throws -> Bool { try lstm()?.flag(field) ?? false }

  fileprivate func direction(
    _ weights: LayerParameters, functions: Int, isReversed: Bool, _ prefix: String
  ) throws -> Direction {
    typealias Fields = LayerSchema.LSTMParams
    typealias Weights = LayerSchema.LSTMWeightParams
    let reader = GateReader(parameters: parameters, weights: weights, emitter: emitter)
    let sizes = try reader.sizes(
      LayerSchema.UniDirectionalLSTMLayerParams.inputVectorSize,
      LayerSchema.UniDirectionalLSTMLayerParams.outputVectorSize)
    let limit = try lstm()?.number(Fields.cellClipThreshold) ?? 0
    let op = Recurrence(
      .lstm, try reader.functions(functions, count: 3), isReversed: isReversed,
      hasPeepholes: try lstmFlag(Fields.hasPeepholeVectors),
      couplesGates: try lstmFlag(Fields.coupledInputAndForgetGate), gateLimit: gateLimit,
      cellLimit: limit > 0 ? limit : gateLimit)
    var direction = Direction(
      op,
      try reader.joined(
        [
          Weights.inputGateWeightMatrix, Weights.forgetGateWeightMatrix, Weights.outputGateWeightMatrix,
          Weights.blockInputWeightMatrix,
        ], [sizes.hidden, sizes.input], "\(prefix)weights"),
      try reader.joined(
        [
          Weights.inputGateRecursionMatrix, Weights.forgetGateRecursionMatrix, Weights.outputGateRecursionMatrix,
          Weights.blockInputRecursionMatrix,
        ], [sizes.hidden, sizes.hidden], "\(prefix)recurrent_weights"))
    if try lstmFlag(Fields.hasBiasVectors) {
      direction.bias = try reader.joined(
        [
          Weights.inputGateBiasVector, Weights.forgetGateBiasVector, Weights.outputGateBiasVector,
          Weights.blockInputBiasVector,
        ], [sizes.hidden], "\(prefix)bias")
    }
    if try lstmFlag(Fields.forgetBias) {
      let ones = (0..<4).flatMap { gate in [Float](repeating: gate == 1 ? 1 : 0, count: sizes.hidden) }
      let forget = emitter.constant(Weight(Tensor(ones, [ones.count])), step: "\(prefix)forget_bias")
      direction.bias =
        try direction.bias.map {
          try emitter.binary(.add, $0, forget, step: "\(prefix)bias_sum")
        } ?? forget
    }
    if op.hasPeepholes {
      direction.peepholes = try reader.joined(
        [Weights.inputGatePeepholeVector, Weights.forgetGatePeepholeVector, Weights.outputGatePeepholeVector],
        [sizes.hidden], "\(prefix)peepholes")
    }
    return direction
  }

  /// Emits the recurrences and returns the sequence or its last step, followed by as many states of each direction as
  /// the layer has outputs for. The sequence of a single reversed direction is in the order of computation.
  fileprivate func recurrent(_ directions: [Direction], returnsSequence: Bool) throws -> [Blob] {
    let x = try input(0)
    guard x.shape.rank == 5, x.shape[3] == 1, x.shape[4] == 1 else {
      throw emitter.invalid("expected [sequence, batch, channels, 1, 1], got \(x.shape)")
    }
    let (steps, batch) = (x.shape[0], x.shape[1])
    let sequence = try view(x, Shape([steps, batch, x.shape[2]]))
    let states = directions[0].op.cell == .lstm ? 2 : 1
    guard [1, 1 + states * directions.count].contains(inputs.count) else {
      throw emitter.invalid("\(inputs.count) inputs, expected 1 or \(1 + states * directions.count)")
    }
    var results: [[ValueID]] = []
    for (index, direction) in directions.enumerated() {
      let hidden = emitter.shape(direction.recurrentWeights)[1]
      func state(_ state: Int) throws -> ValueID? {
        let place = 1 + index * states + state
        guard place < inputs.count, state < states else { return nil }
        return try view(try input(place), [batch, hidden])
      }
      let layer = RecurrentLayer(
        op: direction.op, input: sequence, inputWeights: direction.weights,
        recurrentWeights: direction.recurrentWeights, bias: direction.bias, hidden: try state(0), cell: try state(1),
        peepholes: direction.peepholes)
      results.append(
        try emitter.recurrent(layer, step: directions.count == 1 ? "layer" : index == 0 ? "forward" : "backward"))
    }
    var outputs: [Blob] = []
    func add(_ id: ValueID, sequence count: Int) {
      outputs.append(Blob(id, Shape([count, batch, emitter.shape(id).dimensions.last ?? 0, 1, 1])))
    }
    let parts = results.map { $0[returnsSequence ? 0 : 1] }
    if parts.count > 1 {
      add(
        try emitter.concat(parts, axis: returnsSequence ? 2 : 1, step: "joined"), sequence: returnsSequence ? steps : 1)
    } else if returnsSequence, directions[0].op.isReversed {
      let shape = emitter.shape(parts[0])
      add(try emitter.reversed(parts[0], step: "in_order"), sequence: shape[0])
    } else {
      add(parts[0], sequence: returnsSequence ? steps : 1)
    }
    for result in results { for state in result.dropFirst() { add(state, sequence: 1) } }
    return Array(outputs.prefix(max(self.outputs.count, 1)))
  }
}
