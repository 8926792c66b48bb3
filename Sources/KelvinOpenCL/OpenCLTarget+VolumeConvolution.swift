internal import KelvinGPU

extension OpenCLTarget {
  func convolutionVolume(_ plan: VolumeConvolutionPlan) -> KernelDispatch<KernelName> {
    let (window, run) = (plan.window, min(tuning.run, 256))
    return call(
      KernelName(program: "convolution_volume", function: "convolution_volume"),
      Parameters(
        [plan.count] + window.output + [plan.outputs, plan.groupOutputs, plan.groupInputs] + window.input
          + window.geometry + [
            plan.isTransposed ? 1 : 0, plan.hasBias ? 1 : 0, plan.addsResidual ? 1 : 0, run,
          ]), items: pieces(plan.count, of: run))
  }
}
