import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func compare(_ op: Compare, _ walk: Walk, of scalar: ScalarType) -> Call<VulkanProgram> {
    let element = Element(scalar)
    return walking(
      walk, "compare", [element.format, element.format], constants: [Int(op.code), element.kind.rawValue])
  }
}
