import KelvinGPU

extension VulkanTarget {
  func dequantize(_ plan: QuantizationPlan) -> Call<VulkanProgram> {
    let element = Element(plan.scalar)
    return scaling(plan, "dequantize", [element.format, .float, element.format], constants: [element.kind.rawValue])
  }
}
