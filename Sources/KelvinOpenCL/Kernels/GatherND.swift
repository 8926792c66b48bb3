internal import KelvinGPU

extension OpenCLTarget {
  func gatherND(_ plan: GatherNDPlan) -> KernelDispatch<KernelName> {
    let run = run(of: plan.inner)
    let index = "INDEX=\(plan.index.kernelName)"
    return call(
      moving("gather_nd", byteCount: byteCount(plan.scalar), defines: [index], function: "gather_nd"),
      Parameters([plan.inner, plan.rows, plan.batchStride, plan.depth, run] + plan.extents + plan.strides),
      items: pieces(plan.inner, of: run), plan.slices)
  }
}
