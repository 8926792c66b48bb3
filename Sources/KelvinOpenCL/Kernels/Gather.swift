internal import KelvinGPU

extension OpenCLTarget {
  func gather(_ plan: GatherPlan) -> KernelDispatch<KernelName> {
    let run = run(of: plan.inner)
    let index = "INDEX=\(plan.index.kernelName)"
    return call(
      moving("gather", byteCount: byteCount(plan.scalar), defines: [index], function: "gather"),
      Parameters(plan.extent, plan.count, plan.inner, run), items: pieces(plan.inner, of: run), plan.outer * plan.count)
  }

  func gather(_ plan: GatherPlan, of codes: QuantizedOperand) -> KernelDispatch<KernelName> {
    let index = "INDEX=\(plan.index.kernelName)"
    return call(
      KernelName(program: "gather_codes", defines: [index], function: "gather_codes"), plan.parameters(of: codes),
      items: plan.count * plan.inner)
  }
}
