import KelvinDevices
import KelvinGraph

/// Attention of a few queries on dense operands: a group computes one query of one head, and its invocations share the
/// keys. Several groups share many keys (`Shaders/shared/attention_row.kernel`).
struct AttentionRows {
  static let implementation = "rows"
  /// With more queries, kernels that read keys for several queries at a time are faster, if they support the node.
  private static let mostQueries = 8
  private static let mostQueriesWithLengths = 64
  /// The largest number of vectors of a value that an invocation computes.
  private static let mostTurns = 4
  /// Invocations that score as many keys together, and vectors of values that an invocation reads together.
  private static let shares = 4

  let op: Attention
  let inputs: [TensorType]
  /// The groups that share the keys of a query.
  let parts: Int
  private let group: Int
  /// The vectors of values that a group computes side by side, a power of two, and how often.
  private let columns, turns: Int

  /// - Returns: nil if the device does not share rows among the invocations of a group, or if the attention is too
  ///   large.
  init?<Target>(_ op: Attention, _ context: KernelContext<Target>) {
    guard let least = context.target.lineGroup, !(op.hasMask && op.hasLengths),
      op.queries <= (op.hasLengths ? Self.mostQueriesWithLengths : Self.mostQueries),
      op.valueWidth <= 4 * Self.mostTurns * least,
      context.fault(ofIterations: (op.keys / least + 1) * (op.width + least + 16)) == nil
    else { return nil }
    (self.op, inputs) = (op, context.inputs)
    let seen = op.window > 0 ? min(op.window, op.keys) : op.keys
    var (group, columns) = (least, 1)
    while group < context.target.widestGroup, group < seen { group *= 2 }
    let values = (op.valueWidth + 3) / 4
    while columns < least, columns < values { columns *= 2 }
    (self.group, self.columns) = (group, columns)
    turns = (values + columns - 1) / columns
    func pieces(_ count: Int) -> Int { (count + Self.shares - 1) / Self.shares }
    parts = Attention.parts(
      slabs: (seen + group - 1) / group, steps: pieces((op.width + 3) / 4) + 1 + turns * pieces(columns),
      groups: op.batch * op.heads * op.queries)
  }

  var kernel: GPUKernel {
    let isWhole = op.operandsLieInVectors(of: 4)
    let constants = [
      ("WIDTH", op.width), ("VALUES", op.valueWidth), ("TURNS", turns), ("WHOLE", isWhole ? 1 : 0),
    ]
    let planes = op.batch * op.heads
    let rows: [GPUKernel.Operand] = Array(repeating: isWhole ? .blocks : .floats, count: 3)
    let parameters = Parameters([planes, op.heads, op.sharing, op.queries, op.keys, parts, columns]).floats(op.scale)
      .followed(by: op.query + op.key + op.value + op.result)
    if op.hasLengths {
      return GPUKernel(
        "attention_row", variant: "limited", [.index(inputs[3].scalar)], constants: constants,
        reads: rows + [.indices], parameters.followed(by: [op.lastKey, op.window]), groups: planes * op.queries * parts,
        of: group, makesParts: parts > 1)
    }
    let mask = op.hasMask ? inputs[3].shape.strides(broadcastTo: op.scores) : [0, 0, 0, 0]
    return GPUKernel(
      "attention_row", constants: constants + [("MASKED", op.hasMask ? 1 : 0)], reads: rows + [.floats],
      parameters.followed(by: mask), groups: planes * op.queries * parts, of: group, makesParts: parts > 1)
  }
}
