import KelvinGraph

extension ConformanceCase {
  package static let recurrence: [ConformanceCase] =
    [ScalarType.float32, .float16].flatMap { scalar in
      [
        layer("sequence", .init(.lstm, lstm), scalar: scalar),
        layer("reversed", .init(.lstm, lstm, isReversed: true), rows: 3, hidden: 37, scalar: scalar),
        layer("sequence", .init(.gru, gru), scalar: scalar),
        layer("resetting after the product", .init(.gru, gru, resetsAfterProduct: true), rows: 2, scalar: scalar),
        layer("sequence", .init(.simple, [UnaryFunction(.tanh)]), scalar: scalar),
      ]
    } + [
      layer("peepholes", .init(.lstm, lstm, hasPeepholes: true), rows: 2),
      layer("coupled gates", .init(.lstm, lstm, couplesGates: true), rows: 2),
      layer("peepholes coupled", .init(.lstm, lstm, hasPeepholes: true, couplesGates: true), hidden: 67),
      layer("limits", .init(.lstm, lstm, gateLimit: 0.3, cellLimit: 0.2), rows: 2),
      layer("limits", .init(.gru, gru, gateLimit: 0.3), rows: 2),
      layer(
        "other functions",
        .init(.lstm, [UnaryFunction(.hardSigmoid, a: 0.2, b: 0.5), UnaryFunction(.affine, a: 0.5, b: 0.1), .relu])),
      layer("other functions", .init(.gru, [UnaryFunction(.softsign), UnaryFunction(.elu, a: 0.5)])),
      layer("of lengths", .init(.lstm, lstm, hasLengths: true), rows: 4),
      layer("of lengths reversed", .init(.lstm, lstm, isReversed: true, hasPeepholes: true, hasLengths: true), rows: 4),
      layer("of lengths reversed", .init(.gru, gru, isReversed: true, hasLengths: true), rows: 4),
      layer("of lengths", .init(.gru, gru, resetsAfterProduct: true, hasLengths: true), rows: 4),
      layer("of lengths reversed", .init(.simple, [.relu], isReversed: true, hasLengths: true), rows: 4),
      layer("many units", .init(.lstm, lstm), steps: 3, rows: 9, hidden: 131),
      layer("many units", .init(.gru, gru), steps: 3, rows: 9, hidden: 131),
      layer("computed weights", .init(.lstm, lstm), rows: 3, isComputed: true),
      layer("computed weights", .init(.gru, gru), rows: 3, hidden: 19, isComputed: true),
      layer("one step", .init(.lstm, lstm), steps: 1, hidden: 5),
      layer("no step", .init(.lstm, lstm), steps: 0, rows: 2),
      layer("no step", .init(.gru, gru), steps: 0, rows: 2),
      layer("no row", .init(.lstm, lstm), rows: 0),
    ]

  private static let lstm = [UnaryFunction.sigmoid, UnaryFunction(.tanh), UnaryFunction(.tanh)]
  private static let gru = [UnaryFunction.sigmoid, UnaryFunction(.tanh)]

  private static func layer(
    _ name: String, _ op: Recurrence, steps: Int = 5, rows: Int = 1, hidden: Int = 17, isComputed: Bool = false,
    scalar: ScalarType = .float32
  ) -> ConformanceCase {
    let gates = op.cell.gates.count * hidden
    // Products of a state and its weights have the magnitude of the inputs that they are added to.
    let weights = (0..<gates * hidden).map { Double(($0 * 37 + 11) % 64) / 256 - 0.125 }
    var operands: [CaseOperand] = [
      .input([steps, rows, gates]),
      isComputed ? .ranged([gates, hidden], -0.1...0.1) : .values(weights, [gates, hidden]), .input([rows, hidden]),
    ]
    if op.cell == .lstm { operands.append(.input([rows, hidden])) }
    if op.hasPeepholes { operands.append(.weight([3 * hidden])) }
    if op.resetsAfterProduct { operands.append(.weight([hidden])) }
    if op.hasLengths {
      let lengths = (0..<rows).map { [Double(steps), 2, 0, 3][$0 % 4] }
      operands.append(.exactly(Tensor(TensorType(.int32, [rows]), rounding: lengths)))
    }
    return node("\(op.cell.rawValue) \(name)", op, operands, scalar: scalar)
  }
}
