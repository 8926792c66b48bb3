import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func randomUniform(_ op: RandomUniform, count: Int) -> KernelDispatch<VulkanProgram> {
    flat("random_uniform", [.uint], Parameters(count, op.stream), count: (count + 3) / 4)
  }
}
