import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func scatterND(_ plan: ScatterNDPlan) -> KernelDispatch<VulkanProgram> {
    let (element, index) = (Element(plan.scalar), Element(plan.index))
    return flat(
      "scatter_nd", [index.format, element.format],
      specializationConstants: [
        Int(plan.reduction.code), element.kind.rawValue, element.bits, index.kind.rawValue, plan.depth,
      ],
      Parameters([plan.inner, plan.tuples] + plan.extents + plan.strides), count: plan.inner)
  }
}
