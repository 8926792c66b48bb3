internal import KelvinGPU

extension OpenCLTarget {
  func matmul(_ plan: MatMulPlan) -> Call<KernelName> {
    call(
      KernelName(program: "matmul", function: "matmul"),
      Parameters(
        [plan.rows, plan.columns, plan.depth, plan.xRow, plan.xColumn, plan.yRow, plan.yColumn] + plan.sizes
          + plan.xStrides + plan.yStrides), items: tuning.blocks(plan.columns), pieces(plan.rows, of: 4), plan.batches)
  }
}
