import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func select(_ walk: Walk, of scalar: ScalarType) -> Call<VulkanProgram> {
    let element = moved(scalar)
    return walking(
      walk, "select", [.uint, element.format, element.format], isHalf: element.isHalf,
      constants: [element.isPair ? 1 : 0])
  }
}
