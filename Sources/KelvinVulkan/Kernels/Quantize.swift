import KelvinGPU

extension VulkanTarget {
  func quantize(_ plan: QuantizationPlan) -> KernelDispatch<VulkanProgram> {
    let element = Element(plan.scalar)
    return scaling(
      plan, "quantize", [.uint, .float, element.format], specializationConstants: [element.kind.rawValue, element.bits])
  }
}
