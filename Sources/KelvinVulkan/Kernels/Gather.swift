import KelvinGPU

extension VulkanTarget {
  func gather(_ plan: GatherPlan) -> KernelDispatch<VulkanProgram> {
    let (element, index) = (moved(plan.scalar), Element(plan.index))
    let inner = plan.inner * element.words
    let count = plan.outer * plan.count * inner
    return flat(
      "gather", [element.wordFormat, index.format], isHalf: element.isHalf,
      specializationConstants: [index.kind.rawValue],
      Parameters(count, plan.extent, plan.count, inner).inverses(plan.count, inner), count: count)
  }
}

extension VulkanTarget {
  func gather(_ plan: GatherPlan, of codes: QuantizedOperand) -> KernelDispatch<VulkanProgram> {
    let index = Element(plan.index)
    let parameters = plan.parameters(of: codes)
    return flat(
      "gather_codes", [.uint, index.format], specializationConstants: [index.kind.rawValue], parameters,
      count: plan.count * plan.inner)
  }
}
