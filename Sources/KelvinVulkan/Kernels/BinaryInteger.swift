import KelvinGPU

extension VulkanTarget {
  func binaryInteger(_ plan: BinaryIntegerPlan) -> Call<VulkanProgram> {
    let (walk, range) = (plan.walk, plan.range)
    let numbers = [walk.count, plan.xZero, plan.yZero, plan.zero, range.lowerBound, range.upperBound]
    return flat(
      "binary_integer", [.uint, .uint], constants: [walk.axes.count, plan.isProduct ? 1 : 0],
      Parameters(numbers + walk.paddedSizes + walk.paddedStrides).floats(plan.xScale, plan.yScale), count: walk.count)
  }
}
