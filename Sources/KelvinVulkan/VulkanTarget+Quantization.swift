import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  /// Returns the dispatch of a kernel that looks up each element's scale and zero point.
  func scaling(_ plan: QuantizationPlan, _ shader: String, _ formats: [OperandFormat], specializationConstants: [Int])
    -> KernelDispatch<
      VulkanProgram
    >
  {
    let strides = plan.strides
    return flat(
      shader, formats, specializationConstants: specializationConstants,
      Parameters(
        plan.count, strides.length, strides.inner, strides.block, strides.outerStride, strides.stride,
        strides.innerStride
      ).inverses(strides.length, strides.inner, strides.block), count: plan.count)
  }
}
