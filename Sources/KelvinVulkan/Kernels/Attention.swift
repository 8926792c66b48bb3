import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  /// What an invocation keeps of a row, it keeps in registers.
  var attentionVectors: (lanes: Int, limit: Int) { (4, 128) }

  func attention(_ plan: AttentionPlan) -> Call<VulkanProgram> {
    let op = plan.op
    func vectors(_ view: [Int]) -> [Int] { view.map { $0 / 4 } }
    let queries = traits.attentionQueries
    let span = traits.tileGroup * queries
    let places = vectors(op.query.dropLast() + op.key.dropLast() + op.value.dropLast() + op.result)
    return call(
      traits.variant("attention"), [.float4, .float4, .float4, .float], group: traits.tileGroup,
      constants: [
        traits.lanes, traits.attentionKeys, queries, op.width / 4, op.valueWidth / 4, op.hasMask ? 1 : 0,
      ], Parameters([op.queries, op.keys] + places + plan.mask).floats(op.scale),
      groups: [(op.queries + span - 1) / span, op.heads, op.batch])
  }
}
