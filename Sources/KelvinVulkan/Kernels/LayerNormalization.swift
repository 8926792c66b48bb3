import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func layerNormalization(_ op: LayerNormalization, _ groups: LineGroups, _ pass: LinePass, inputs: Int)
    -> Call<VulkanProgram>
  {
    let makesParts = pass == .statistics
    return sharing(
      groups, "normalize", makesParts: makesParts, makesParts ? [.float] : [.float, .float, .float, .wide]
    ) { $0.followed(by: [inputs > 1 ? 1 : 0, inputs > 2 ? 1 : 0]).floats(op.epsilon) }
  }
}
