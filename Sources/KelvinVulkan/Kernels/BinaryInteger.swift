import KelvinGPU

extension VulkanTarget {
  func binaryInteger(_ plan: BinaryIntegerPlan) -> KernelDispatch<VulkanProgram> {
    let (iteration, range) = (plan.iteration, plan.range)
    let numbers = [iteration.count, plan.xZero, plan.yZero, plan.zero, range.lowerBound, range.upperBound]
    return flat(
      "quantized_binary", [.uint, .uint], specializationConstants: [iteration.axes.count, plan.isProduct ? 1 : 0],
      Parameters(numbers + iteration.paddedSizes + iteration.paddedStrides).floats(plan.xScale, plan.yScale),
      count: iteration.count)
  }
}
