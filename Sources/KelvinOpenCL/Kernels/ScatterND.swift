internal import KelvinGPU

extension OpenCLTarget {
  func scatterND(_ plan: ScatterNDPlan) -> KernelDispatch<KernelName> {
    let run = run(of: plan.inner)
    return call(
      scatter("scatter_nd", plan.reduction, of: plan.scalar, by: plan.index),
      Parameters([plan.inner, plan.tuples, plan.depth, run] + plan.extents + plan.strides),
      items: pieces(plan.inner, of: run))
  }
}
