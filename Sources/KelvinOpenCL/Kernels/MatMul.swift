import KelvinGPU

extension OpenCLTarget {
  func matmul(_ plan: MatMulPlan) -> KernelDispatch<KernelName> {
    let parameters = Parameters(
      [plan.rows, plan.columns, plan.depth, plan.xRow, plan.xColumn, plan.yRow, plan.yColumn] + plan.sizes
        + plan.xStrides + plan.yStrides)
    // The rows and columns of a group, as in matmul.cl.
    let columns = tuning.group == 1 ? 2 * lanes : tuning.group / 8 * 4
    return call(
      KernelName(program: "matmul", function: "matmul"), parameters,
      items: pieces(plan.columns, of: columns) * tuning.group, pieces(plan.rows, of: 64), plan.batches)
  }
}
