internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func scatterElements(_ plan: ScatterElementsPlan) -> KernelDispatch<KernelName> {
    iterating(
      plan.lines, scatter("scatter_elements", plan.reduction, of: plan.scalar, by: plan.index),
      [plan.length, plan.step, plan.extent, plan.targetStep])
  }

  func scatter(_ function: String, _ reduction: ScatterReduction, of scalar: ScalarType, by index: ScalarType)
    -> KernelName
  {
    let defines = scalar.wideDefines + ["INDEX=\(index.kernelName)", "FUNCTION=\(reduction.code)"]
    return KernelName(program: "scatter", defines: defines, function: function)
  }
}
