internal import KelvinGPU

extension OpenCLTarget {
  func dequantize(_ plan: QuantizationPlan) -> KernelDispatch<KernelName> { scaling(plan, "dequantize") }
}
