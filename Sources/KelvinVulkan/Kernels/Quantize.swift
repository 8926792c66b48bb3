import KelvinGPU

extension VulkanTarget {
  func quantize(_ plan: QuantizationPlan) -> Call<VulkanProgram> {
    let element = Element(plan.scalar)
    return scaling(
      plan, "quantize", [.uint, .float, element.format], constants: [element.kind.rawValue, element.bits])
  }
}
