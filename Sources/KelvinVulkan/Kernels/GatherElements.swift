import KelvinGPU

extension VulkanTarget {
  func gatherElements(_ plan: GatherElementsPlan) -> KernelDispatch<VulkanProgram> {
    let (element, index) = (moved(plan.scalar), Element(plan.index))
    return iterating(
      plan.iteration, "gather_elements", [element.format, index.format], isHalf: element.isHalf,
      specializationConstants: [index.kind.rawValue, element.isPair ? 1 : 0], leading: [plan.extent, plan.step])
  }
}
