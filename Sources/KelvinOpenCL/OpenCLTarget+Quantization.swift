internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  /// Returns the dispatch of a kernel that looks up each element's scale and zero point.
  func scaling(_ plan: QuantizationPlan, _ kernel: String) -> KernelDispatch<KernelName> {
    let strides = plan.strides
    let run = run(of: strides.inner)
    return call(
      KernelName(program: kernel, defines: plan.scalar.wideDefines, function: kernel),
      Parameters(
        strides.length, strides.inner, strides.block, strides.outerStride, strides.stride, strides.innerStride, run),
      items: pieces(strides.inner, of: run), strides.outer * strides.length)
  }
}
