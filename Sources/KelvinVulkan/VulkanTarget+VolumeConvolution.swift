import KelvinGPU

extension VulkanTarget {
  func convolutionVolume(_ plan: VolumeConvolutionPlan) -> KernelDispatch<VulkanProgram> {
    let (window, count) = (plan.window, plan.count)
    return flat(
      "convolution_volume", [.float, .float, .float, .float],
      specializationConstants: [plan.isTransposed ? 1 : 0, plan.hasBias ? 1 : 0, plan.addsResidual ? 1 : 0],
      Parameters(
        [count] + window.output + [plan.outputs, plan.groupOutputs, plan.groupInputs] + window.input + window.geometry
      )
      .inverses(plan.outputs, window.output[0], window.output[1], window.output[2]), count: count)
  }
}
