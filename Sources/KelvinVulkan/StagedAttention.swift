import KelvinGPU
import KelvinGraph

/// Attention whose groups share queries, their scores, and slabs of keys and values in local memory
/// (`Shaders/attention_staged.comp`).
struct StagedAttention {
  /// The least invocations of a group, and its queries.
  static let (leastInvocations, queries) = (128, 32)
  /// Keys of a slab: a multiple of 16. Small slabs leave room for long rows.
  private static let slabs = [32, 16]
  /// The steps of a slab: its keys and its values are read.
  private static let steps = 2

  let plan: AttentionPlan
  private let keys: Int
  /// Twice as many if no second group fits the local memory of a compute unit.
  private let invocations: Int

  /// - Returns: nil if rows are not whole vectors, or too long for the local memory.
  init?(_ plan: AttentionPlan, _ traits: VulkanTraits) {
    let memory = traits.localMemory
    let (width, values) = (plan.op.width / 4, plan.op.valueWidth / 4)
    guard plan.liesInVectors(of: 4),
      let keys = Self.slabs.first(where: { Self.localByteCount(keys: $0, width, values) <= memory })
    else { return nil }
    (self.plan, self.keys) = (plan, keys)
    let isAlone = 2 * Self.localByteCount(keys: keys, width, values) > memory
    invocations = min(isAlone ? 2 * Self.leastInvocations : Self.leastInvocations, traits.widestGroup)
  }

  /// The bytes of local memory of the shader, with its gaps between lines.
  private static func localByteCount(keys: Int, _ width: Int, _ values: Int) -> Int {
    let line = width | 1
    let vectors = queries * line + max(keys * line, keys * values) + queries * (keys / 4 + 1)
    return 16 * vectors + 4 * (2 * leastInvocations + queries)
  }

  private var tiles: Int { (plan.op.queries + Self.queries - 1) / Self.queries }

  /// The number of groups that share the keys of a query.
  var parts: Int {
    Attention.parts(
      slabs: (plan.op.keys + keys - 1) / keys, steps: Self.steps, groups: tiles * plan.op.batch * plan.op.heads)
  }

  func call(_ target: VulkanTarget) -> KernelDispatch<VulkanProgram> {
    let op = plan.op
    let values = op.valueWidth / 4
    var across = invocations / Self.queries
    while across < min(values, 16) { across *= 2 }
    let planes = op.batch * op.heads
    let views = op.query.dropLast() + op.key.dropLast() + op.value.dropLast() + op.result
    let (y, z) = target.folded(planes * parts)
    return target.call(
      parts > 1 ? "attention_staged\(VulkanTarget.partsSuffix)" : "attention_staged",
      [.float4, .float4, .float4, .float], group: invocations,
      specializationConstants: [keys, op.width / 4, values, op.hasMask ? 1 : 0, across],
      Parameters([planes, op.heads, op.sharing, op.queries, op.keys] + views.map { $0 / 4 } + plan.mask)
        .floats(op.scale).followed(by: [parts]), groups: [tiles, y, z])
  }
}

extension VulkanTarget {
  func stagedAttention(_ plan: AttentionPlan) -> (call: KernelDispatch<VulkanProgram>, parts: Int)? {
    StagedAttention(plan, traits).map { ($0.call(self), $0.parts) }
  }
}
