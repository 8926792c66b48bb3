import KelvinDevices
import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func localResponseNormalization(_ op: LocalResponseNormalization, _ shape: BlockedShape) -> KernelDispatch<
    VulkanProgram
  > {
    let reach = [(op.size - 1) / 2, op.size / 2].map { min($0, shape.channels) }
    return flat(
      "local_response_normalization", [.float4],
      Parameters([shape.groups, shape.area, shape.blocks, shape.channels] + reach).floats(
        op.k, op.alpha / Float(op.size), op.beta
      ).inverses(shape.area, shape.blocks), count: shape.groups)
  }
}
