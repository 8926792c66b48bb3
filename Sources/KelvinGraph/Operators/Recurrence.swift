/// A recurrent layer in one direction. The product of its inputs with the input weights is precomputed:
/// `x = W · input + bias` of all steps.
///
/// Gates are in the order of `Cell.gates`; R is the recurrent weights, h the hidden state, c the cell state, p
/// peepholes.
///
/// - `lstm`: `i = f(x + R h + p c)`, `o = f(x + R h + p c')`, `g = g(x + R h)`. The forget gate is computed like the
///   input gate, or is `1 - i` if they are coupled. `c' = forget · c + i · g`, `h' = o · h(c')`.
/// - `gru`: `z = f(x + R h)`, `r = f(x + R h)`, `n = g(x + R (r · h))`, or `g(x + r · (R h + bias))` if it resets after
///   the product. `h' = (1 - z) · n + z · h`.
/// - `simple`: `h' = f(x + R h)`.
///
/// Inputs: x `[steps, batch, gates · hidden]`, R `[gates · hidden, hidden]`, h `[batch, hidden]`. An LSTM also has c
/// like h, and optionally peepholes of i, forget and o `[3 · hidden]`. A GRU that resets after the product has the bias
/// of n `[hidden]`. The last input is the number of steps of each sequence `[batch]`, int32, if they differ. All others
/// are of one floating-point type.
///
/// Outputs: h after each step `[steps, batch, hidden]`, with zeros after a sequence's end; the last h and, for an LSTM,
/// the last c, `[batch, hidden]`. In reverse a sequence begins at its own last step; results are at the indices of
/// their steps.
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
  /// The activations f, g and h, as many as the cell has.
  package var activations: [UnaryFunction]
  package var isReversed: Bool
  package var hasPeepholes: Bool
  package var couplesGates: Bool
  package var resetsAfterProduct: Bool
  package var hasLengths: Bool
  /// The bounds of the magnitudes of gate inputs (of f and g), and of c after each step. Infinite for no clipping.
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
      throw OperatorError("\(x) has not \(gates) gates of \(hidden)")
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

  package static let schema = AttributeSchema(
    Recurrence(.simple, [.sigmoid]), .required("cell", \.cell), .required("activations", \.activations),
    .optional("reversed", \.isReversed), .optional("peepholes", \.hasPeepholes), .optional("coupled", \.couplesGates),
    .optional("resets_after", \.resetsAfterProduct), .optional("lengths", \.hasLengths),
    .optional("gate_limit", \.gateLimit), .optional("cell_limit", \.cellLimit))
}
