import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  /// What an invocation keeps of a row, it keeps in registers.
  var attentionLimits: AttentionLimits {
    AttentionLimits(lanes: 4, width: 128, queries: traits.groupLimit * traits.tileGroup * traits.attentionQueries)
  }

  func attention(_ plan: AttentionPlan) -> Call<VulkanProgram> {
    let op = plan.op
    func vectors(_ view: [Int]) -> [Int] { view.map { $0 / 4 } }
    let queries = traits.attentionQueries
    let span = traits.tileGroup * queries
    let places = vectors(op.query.dropLast() + op.key.dropLast() + op.value.dropLast() + op.result)
    let planes = op.batch * op.heads
    let (y, z) = folded(planes)
    return call(
      traits.variant("attention"), [.float4, .float4, .float4, .float], group: traits.tileGroup,
      constants: [
        traits.lanes, traits.attentionKeys, queries, op.width / 4, op.valueWidth / 4, op.hasMask ? 1 : 0,
      ], Parameters([planes, op.heads, op.queries, op.keys] + places + plan.mask).floats(op.scale),
      groups: [(op.queries + span - 1) / span, y, z])
  }
}
