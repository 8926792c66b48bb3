import KelvinGPU

extension VulkanTarget {
  func gatherND(_ plan: GatherNDPlan) -> KernelDispatch<VulkanProgram> {
    let (element, index) = (moved(plan.scalar), Element(plan.index))
    let inner = plan.inner * element.words
    let count = plan.slices * inner
    return flat(
      "gather_nd", [element.wordFormat, index.format], isHalf: element.isHalf,
      specializationConstants: [plan.depth, index.kind.rawValue],
      Parameters(
        [count, inner, plan.rows, plan.batchStride * element.words] + plan.extents
          + plan.strides.map { $0 * element.words }
      ).inverses(inner, plan.rows), count: count)
  }
}
