internal import KelvinGPU

extension OpenCLTarget {
  func quantize(_ plan: QuantizationPlan) -> KernelDispatch<KernelName> { scaling(plan, "quantize") }
}
