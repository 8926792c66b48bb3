import KelvinDevices
import KelvinGraph

/// Attention of a few queries on dense operands: a group computes one query of one head, and its invocations share the
/// keys (`Shaders/shared/attention_row.kernel`).
struct AttentionRows {
  static let implementation = "rows"
  /// With more queries, kernels that read keys for several queries at a time are faster, if they support the node.
  private static let mostQueries = 8
  private static let mostQueriesWithLengths = 64
  /// The largest number of elements of a value that an invocation computes.
  private static let mostTurns = 4

  let op: Attention
  let inputs: [TensorType]
  private let group: Int

  /// - Returns: nil if the device does not share rows among the invocations of a group, or if the attention is too
  ///   large.
  init?<Target>(_ op: Attention, _ context: KernelContext<Target>) {
    guard let group = context.target.lineGroup, !(op.hasMask && op.hasLengths),
      op.queries <= (op.hasLengths ? Self.mostQueriesWithLengths : Self.mostQueries),
      op.valueWidth <= Self.mostTurns * group,
      context.fault(ofIterations: (op.keys / group + 1) * (op.width + group + 16)) == nil
    else { return nil }
    (self.op, self.group) = (op, group)
    inputs = context.inputs
  }

  var kernel: GPUKernel {
    var columns = 1
    while columns < group, columns < op.valueWidth { columns *= 2 }
    let constants = [
      ("WIDTH", op.width), ("VALUES", op.valueWidth), ("TURNS", (op.valueWidth + columns - 1) / columns),
    ]
    let planes = op.batch * op.heads
    let parameters = Parameters([planes, op.heads, op.sharing, op.queries, op.keys, columns]).floats(op.scale)
      .followed(by: op.query + op.key + op.value + op.result)
    if op.hasLengths {
      return GPUKernel(
        "attention_row", variant: "limited", [.index(inputs[3].scalar)], constants: constants,
        reads: [.floats, .floats, .floats, .indices], parameters.followed(by: [op.lastKey, op.window]),
        groups: planes * op.queries)
    }
    let mask = op.hasMask ? inputs[3].shape.strides(broadcastTo: op.scores) : [0, 0, 0, 0]
    return GPUKernel(
      "attention_row", constants: constants + [("MASKED", op.hasMask ? 1 : 0)],
      reads: [.floats, .floats, .floats, .floats], parameters.followed(by: mask), groups: planes * op.queries)
  }
}
