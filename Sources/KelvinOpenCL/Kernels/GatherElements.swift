internal import KelvinGPU

extension OpenCLTarget {
  func gatherElements(_ plan: GatherElementsPlan) -> Call<KernelName> {
    let index = "INDEX=\(plan.index.kernelName)"
    return walking(
      plan.walk,
      moving("gather_elements", byteCount: byteCount(plan.scalar), defines: [index], function: "gather_elements"),
      [plan.extent, plan.step])
  }
}
