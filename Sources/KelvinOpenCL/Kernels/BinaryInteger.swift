internal import KelvinGPU

extension OpenCLTarget {
  func binaryInteger(_ plan: BinaryIntegerPlan) -> KernelDispatch<KernelName> {
    let (range, scales) = (plan.range, [plan.xScale, plan.yScale].map { Int(Int32(bitPattern: $0.bitPattern)) })
    let kernel = KernelName(
      program: "quantized_binary", defines: ["ELEMENT=\(plan.scalar.kernelName)"], function: "quantized_binary")
    return iterating(
      plan.iteration, kernel,
      [plan.isProduct ? 1 : 0, plan.xZero, plan.yZero, plan.zero, range.lowerBound, range.upperBound] + scales)
  }
}
