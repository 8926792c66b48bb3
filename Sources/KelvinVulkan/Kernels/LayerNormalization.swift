import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func layerNormalization(_ op: LayerNormalization, _ groups: LineGroups, _ pass: LinePass, inputs: Int)
    -> Call<VulkanProgram>
  {
    let makesParts = pass == .statistics
    let (rows, length) = (groups.lines.outer, groups.lines.length)
    // Rows enough to fill a register, with loops far shorter than those that some drivers end.
    if traits.usesShuffles, rows >= traits.lanes, length % 4 == 0, (4...1 << 14).contains(length) {
      let group = traits.tileGroup
      let (x, z) = folded((rows + group - 1) / group)
      return call(
        traits.variant("normalize_rows"), [.float4, .float4, .float4, .wide4], group: group, constants: [traits.lanes],
        Parameters(rows, length / 4, inputs > 1 ? 1 : 0, inputs > 2 ? 1 : 0).floats(op.epsilon), groups: [x, 1, z])
    }
    return sharing(
      groups, "normalize", makesParts: makesParts, makesParts ? [.float] : [.float, .float, .float, .wide]
    ) { $0.followed(by: [inputs > 1 ? 1 : 0, inputs > 2 ? 1 : 0]).floats(op.epsilon) }
  }
}
