internal import KelvinGPU

extension OpenCLTarget {
  func gather(_ plan: GatherPlan) -> Call<KernelName> {
    let run = run(of: plan.inner)
    let element = elementName(byteCount: byteCount(plan.scalar))
    let defines = ["ELEMENT=\(element)", "INDEX=\(plan.index.kernelName)"]
    return call(
      KernelName(program: "gather", defines: defines, function: "gather"),
      Parameters(plan.extent, plan.count, plan.inner, run), items: pieces(plan.inner, of: run), plan.outer * plan.count)
  }
}
