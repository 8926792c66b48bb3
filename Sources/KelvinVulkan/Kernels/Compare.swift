import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func compare(_ op: Compare, _ iteration: StridedIteration, of scalar: ScalarType) -> KernelDispatch<VulkanProgram> {
    let element = Element(scalar)
    return iterating(
      iteration, "compare", [element.format, element.format],
      specializationConstants: [Int(op.code), element.kind.rawValue])
  }
}
