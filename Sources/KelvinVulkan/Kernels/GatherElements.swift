import KelvinGPU

extension VulkanTarget {
  func gatherElements(_ plan: GatherElementsPlan) -> Call<VulkanProgram> {
    let (element, index) = (moved(plan.scalar), Element(plan.index))
    return walking(
      plan.walk, "gather_elements", [element.format, index.format], isHalf: element.isHalf,
      constants: [index.kind.rawValue, element.isPair ? 1 : 0], leading: [plan.extent, plan.step])
  }
}
