import KelvinGPU

extension VulkanTarget {
  func matmul(_ plan: MatMulPlan) -> Call<VulkanProgram> {
    let (rowTile, group) = (4, traits.flatGroup)
    let parameters = Parameters(
      [plan.rows, plan.depth, plan.columns, plan.xRow, plan.xColumn, plan.yRow, plan.yColumn] + plan.sizes
        + plan.xStrides + plan.yStrides)
    return call(
      "matmul", [.float, .float], group: group, constants: [rowTile], parameters,
      groups: [(plan.columns + group - 1) / group, (plan.rows + rowTile - 1) / rowTile, plan.batches])
  }
}
