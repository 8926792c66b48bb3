import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func select(_ walk: Walk, of scalar: ScalarType) -> Call<VulkanProgram> {
    let element = Element(scalar)
    return walking(walk, "select", [.uint, element.format, element.format], constants: [element.isPair ? 1 : 0])
  }
}
