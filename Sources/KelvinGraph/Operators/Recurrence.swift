/// A recurrent layer in one direction. Gates are in the order of `Cell.gates`.
package struct Recurrence: Operator {
  package enum Cell: String, Hashable, Sendable, CaseIterable, AttributeConvertible {
    case lstm, gru, simple

    package enum Gate: Hashable, Sendable { case input, forget, output, cell, update, reset, candidate, hidden }

    package var gates: [Gate] {
      switch self {
      case .lstm: [.input, .forget, .output, .cell]
      case .gru: [.update, .reset, .candidate]
      case .simple: [.hidden]
      }
    }

    /// The number of activations: f, g and h of the formulas.
    package var activationCount: Int {
      switch self {
      case .lstm: 3
      case .gru: 2
      case .simple: 1
      }
    }
  }

  package static let name = "recurrence"
  package var cell: Cell
  package var activations: [UnaryFunction]
  package var isReversed: Bool
  package var hasPeepholes: Bool
  package var couplesGates: Bool
  package var resetsAfterProduct: Bool
  package var hasLengths: Bool
  package var gateLimit: Float
  package var cellLimit: Float

  package init(
    _ cell: Cell, _ activations: [UnaryFunction], isReversed: Bool = false, hasPeepholes: Bool = false,
    couplesGates: Bool = false, resetsAfterProduct: Bool = false, hasLengths: Bool = false,
    gateLimit: Float = .infinity, cellLimit: Float = .infinity
  ) {
    self.cell = cell
    self.activations = activations
    self.isReversed = isReversed
    self.hasPeepholes = hasPeepholes
    self.couplesGates = couplesGates
    self.resetsAfterProduct = resetsAfterProduct
    self.hasLengths = hasLengths
    self.gateLimit = gateLimit
    self.cellLimit = cellLimit
  }

  package var cellInput: Int? { cell == .lstm ? 3 : nil }
  package var peepholeInput: Int? { hasPeepholes ? 4 : nil }
  package var candidateBiasInput: Int? { resetsAfterProduct ? 3 : nil }
  package var lengthsInput: Int? { hasLengths ? inputCount - 1 : nil }
  private var inputCount: Int {
    3 + (cell == .lstm ? 1 : 0) + (hasPeepholes ? 1 : 0) + (resetsAfterProduct ? 1 : 0) + (hasLengths ? 1 : 0)
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    guard activations.count == cell.activationCount, activations.allSatisfy({ $0.kind != .logicalNot }) else {
      throw OperatorError("\(cell.rawValue) takes \(cell.activationCount) functions of numbers, got \(activations)")
    }
    guard cell == .lstm || !hasPeepholes && !couplesGates && cellLimit == .infinity, cell == .gru || !resetsAfterProduct
    else { throw OperatorError("\(cell.rawValue) has no such gates") }
    guard gateLimit > 0, cellLimit > 0 else {
      throw OperatorError("limits must be above 0, got \(gateLimit) and \(cellLimit)")
    }
    try OperatorError.require(inputs, inputCount...inputCount)
    let (x, weights, state) = (inputs[0], inputs[1], inputs[2])
    let gates = cell.gates.count
    guard x.scalar.isFloatingPoint, x.shape.rank == 3, weights.shape.rank == 2 else {
      throw OperatorError("expected [steps, batch, gates] and [gates, hidden], got \(x) and \(weights)")
    }
    let (batch, hidden) = (x.shape[1], weights.shape[1])
    func check(_ type: TensorType?, _ shape: Shape, _ what: String) throws(OperatorError) {
      guard let type, type != TensorType(x.scalar, shape) else { return }
      throw OperatorError("\(what): expected \(TensorType(x.scalar, shape)), got \(type)")
    }
    let columns = hidden.multipliedReportingOverflow(by: gates)
    guard !columns.overflow, x.shape[2] == columns.partialValue else {
      throw OperatorError("\(x) does not have \(gates) gates of \(hidden)")
    }
    try check(weights, [columns.partialValue, hidden], "recurrent weights")
    try check(state, [batch, hidden], "hidden state")
    try check(cellInput.map { inputs[$0] }, [batch, hidden], "cell state")
    try check(peepholeInput.map { inputs[$0] }, [3 * hidden], "peepholes")
    try check(candidateBiasInput.map { inputs[$0] }, [hidden], "bias")
    if let lengthsInput, inputs[lengthsInput] != TensorType(.int32, [batch]) {
      throw OperatorError("lengths: expected \(TensorType(.int32, [batch])), got \(inputs[lengthsInput])")
    }
    let last = TensorType(x.scalar, [batch, hidden])
    return [TensorType(x.scalar, [x.shape[0], batch, hidden]), last] + (cell == .lstm ? [last] : [])
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    let (hidden, gates) = (Double(inputs[1].shape[1]), Double(cell.gates.count))
    let functions = activations.reduce(0) { $0 + $1.operations }
    return Double(outputs[0].count) * (2 * gates * hidden + gates * functions + 8)
  }

  /// Errors propagate from step to step.
  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    .accumulation(precision, inputs[0].scalar, length: (inputs[1].shape[1] + 32) * max(inputs[0].shape[0], 1))
  }

  package static let summary = OperatorSummary(
    formula: """
      lstm:    i = f(x + R h + p c)   o = f(x + R h + p c')   g = g(x + R h)   c' = forget · c + i · g   h' = o · \
      h(c')
      gru:     z = f(x + R h)   r = f(x + R h)   n = g(x + R (r · h))   h' = (1 - z) · n + z · h
      simple:  h' = f(x + R h)
      """,
    notes: """
      x holds the products of the inputs with the input weights, W · input + bias, of all steps. R is the recurrent \
      weights, h the hidden state, c the cell state, p the peepholes. The forget gate is computed like the input gate.

      In reverse a sequence begins at its own last step; results are at the indices of their steps.
      """,
    inputs: [
      ("x", "`[steps, batch, gates · hidden]`, floating-point; all but `lengths` have its element type"),
      ("R", "`[gates · hidden, hidden]`"),
      ("h", "`[batch, hidden]`"),
      ("c", "LSTM: `[batch, hidden]`"),
      ("peepholes", "only if `peepholes`: of i, forget and o, `[3 · hidden]`"),
      ("bias", "GRU with `resets_after`: the bias of n, `[hidden]`"),
      ("lengths", "only if `lengths`: the number of steps of each sequence, int32 `[batch]`"),
    ],
    outputs: [
      ("steps", "h after each step `[steps, batch, hidden]`, with zeros after a sequence's end"),
      ("h", "the last h `[batch, hidden]`"),
      ("c", "LSTM: the last c `[batch, hidden]`"),
    ])

  package static let schema = AttributeSchema(
    Recurrence(.simple, [.sigmoid]), .required("cell", \.cell, "the equations"),
    .required("activations", \.activations, "f, g and h, as many as the cell has: 3, 2 or 1"),
    .optional("reversed", \.isReversed, "whether sequences run from their end"),
    .optional("peepholes", \.hasPeepholes, "whether gates read the cell state"),
    .optional("coupled", \.couplesGates, "LSTM: whether the forget gate is `1 - i`"),
    .optional("resets_after", \.resetsAfterProduct, "GRU: whether `n = g(x + r · (R h + bias))`"),
    .optional("lengths", \.hasLengths, "whether sequences differ in length"),
    .optional("gate_limit", \.gateLimit, "bound of the magnitudes of the inputs of f and g; infinite for no clipping"),
    .optional("cell_limit", \.cellLimit, "bound of the magnitude of c after each step; infinite for no clipping"))
}
