import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func layerNormalization(_ op: LayerNormalization, rows: Int, length: Int, inputs: Int) -> Call<VulkanProgram> {
    let (x, z) = folded(rows)
    return call(
      "layer_normalization", [.float, .float, .float], group: traits.flatGroup,
      constants: [inputs > 1 ? 1 : 0, inputs > 2 ? 1 : 0], Parameters(rows, length).floats(op.epsilon),
      groups: [x, 1, z])
  }
}
