internal import KelvinGPU

extension OpenCLTarget {
  func gatherElements(_ plan: GatherElementsPlan) -> KernelDispatch<KernelName> {
    let index = "INDEX=\(plan.index.kernelName)"
    return iterating(
      plan.iteration,
      moving("gather_elements", byteCount: byteCount(plan.scalar), defines: [index], function: "gather_elements"),
      [plan.extent, plan.step])
  }
}
