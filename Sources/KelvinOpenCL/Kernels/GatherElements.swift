internal import KelvinGPU

extension OpenCLTarget {
  func gatherElements(_ plan: GatherElementsPlan) -> Call<KernelName> {
    let defines = ["ELEMENT=\(plan.scalar.kernelName)", "INDEX=\(plan.index.kernelName)"]
    return walking(
      plan.walk, KernelName(program: "gather_elements", defines: defines, function: "gather_elements"),
      [plan.extent, plan.step])
  }
}
