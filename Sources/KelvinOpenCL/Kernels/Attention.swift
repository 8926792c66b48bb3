internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  /// A work item keeps its rows in private memory, so the width is limited.
  var attentionLimits: AttentionLimits { AttentionLimits(lanes: 1, width: 256, keys: 8) }

  func attention(_ plan: AttentionPlan) -> KernelDispatch<KernelName> {
    let op = plan.op
    return call(
      KernelName(
        program: "attention", defines: ["WIDTH=\(op.width)", "VALUES=\(op.valueWidth)"], function: "attention"),
      Parameters(
        [op.sharing, op.queries, op.keys] + op.query + op.key + op.value + op.result + plan.mask + [op.hasMask ? 1 : 0]
      ).floats(op.scale), items: pieces(op.queries, of: lanes), op.heads, op.batch)
  }
}
