import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func scatterElements(_ plan: ScatterElementsPlan) -> KernelDispatch<VulkanProgram> {
    let (element, index) = (Element(plan.scalar), Element(plan.index))
    return flat(
      "scatter_elements", [index.format, element.format],
      specializationConstants: [
        Int(plan.reduction.code), element.kind.rawValue, element.bits, index.kind.rawValue, plan.lines.axes.count,
      ],
      Parameters(
        [plan.lines.count, plan.length, plan.step, plan.extent, plan.targetStep] + plan.lines.paddedSizes
          + plan.lines.paddedStrides), count: plan.lines.count)
  }
}
