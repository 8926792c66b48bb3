internal import KelvinGPU

extension OpenCLTarget {
  func binaryInteger(_ plan: BinaryIntegerPlan) -> KernelDispatch<KernelName> {
    let (range, scales) = (plan.range, [plan.xScale, plan.yScale].map { Int(Int32(bitPattern: $0.bitPattern)) })
    let kernel = KernelName(
      program: "binary_integer", defines: ["ELEMENT=\(plan.scalar.kernelName)"], function: "binary_integer")
    return iterating(
      plan.iteration, kernel,
      [plan.isProduct ? 1 : 0, plan.xZero, plan.yZero, plan.zero, range.lowerBound, range.upperBound] + scales)
  }
}
