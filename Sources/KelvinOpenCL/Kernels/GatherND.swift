internal import KelvinGPU

extension OpenCLTarget {
  func gatherND(_ plan: GatherNDPlan) -> Call<KernelName> {
    let run = run(of: plan.inner)
    let defines = ["ELEMENT=\(plan.scalar.kernelName)", "INDEX=\(plan.index.kernelName)"]
    return call(
      KernelName(program: "gather_nd", defines: defines, function: "gather_nd"),
      Parameters([plan.inner, plan.rows, plan.batchStride, plan.depth, run] + plan.extents + plan.strides),
      items: pieces(plan.inner, of: run), plan.slices)
  }
}
