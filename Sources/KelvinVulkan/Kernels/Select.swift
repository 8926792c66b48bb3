import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func select(_ iteration: StridedIteration, of scalar: ScalarType) -> KernelDispatch<VulkanProgram> {
    let element = moved(scalar)
    return iterating(
      iteration, "select", [.uint, element.format, element.format], isHalf: element.isHalf,
      specializationConstants: [element.isPair ? 1 : 0])
  }
}
