import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  /// The number of vectors of four values that an invocation keeps in registers; longer rows are cut.
  private static let partLimit = 32

  var attentionLimits: AttentionLimits {
    AttentionLimits(
      lanes: traits.attentionLanes, width: 256, keys: traits.attentionKeys,
      queries: traits.groupLimit * traits.tileGroup * traits.attentionQueries)
  }

  func attention(_ plan: AttentionPlan) -> KernelDispatch<VulkanProgram> {
    let op = plan.op
    let areVectors = plan.liesInVectors(of: 4)
    func places(_ view: [Int]) -> [Int] { view.map { areVectors ? $0 / 4 : $0 } }
    let queries = traits.attentionQueries
    let span = traits.tileGroup * queries
    let views = places(op.query.dropLast() + op.key.dropLast() + op.value.dropLast() + op.result)
    let steps = areVectors ? [] : [op.query[4], op.key[4], op.value[4]]
    let values = (op.valueWidth + 3) / 4
    let parts = (values + Self.partLimit - 1) / Self.partLimit
    let planes = op.batch * op.heads
    let (y, z) = folded(planes * parts)
    let format: OperandFormat = areVectors ? .float4 : .float
    return call(
      areVectors ? traits.variant("attention") : "attention_scalars", [format, format, format, .float],
      group: traits.tileGroup,
      specializationConstants: [
        traits.lanes, traits.attentionKeys, queries, (op.width + 3) / 4, (values + parts - 1) / parts,
        op.hasMask ? 1 : 0, parts, op.width, op.valueWidth,
      ], Parameters([planes, op.heads, op.sharing, op.queries, op.keys] + views + plan.mask + steps).floats(op.scale),
      groups: [(op.queries + span - 1) / span, y, z])
  }
}
