import KelvinGPU

extension VulkanTarget {
  func dequantize(_ plan: QuantizationPlan) -> KernelDispatch<VulkanProgram> {
    let element = Element(plan.scalar)
    return scaling(
      plan, "dequantize", [element.format, .float, element.format], specializationConstants: [element.kind.rawValue])
  }
}
