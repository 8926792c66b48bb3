import KelvinGPU

extension VulkanTarget {
  func matmul(_ plan: MatMulPlan) -> KernelDispatch<VulkanProgram> {
    let (rows, columns) = matmulTile(plan)
    let (rowTiles, columnTiles) = ((plan.rows + rows - 1) / rows, (plan.columns + columns - 1) / columns)
    let tiles = rowTiles * columnTiles * plan.batches
    let (groups, z) = folded(tiles)
    let isAligned = [
      plan.transposesX ? plan.rows : plan.depth, plan.transposesY ? plan.depth : plan.columns,
    ].map { $0 % 4 == 0 }
    return call(
      traits.variant("matmul"), isAligned.map { $0 ? .float4 : .float }, group: traits.tileGroup,
      specializationConstants: [
        traits.lanes, rows, plan.transposesX ? 1 : 0, plan.transposesY ? 1 : 0, isAligned[0] ? 1 : 0,
        isAligned[1] ? 1 : 0,
      ],
      Parameters(
        [plan.rows, plan.depth, plan.columns, rowTiles, columnTiles, tiles] + plan.sizes + plan.xStrides
          + plan.yStrides), groups: [groups, 1, z])
  }

  /// The rows and columns of a group, as in `matmul.comp`.
  private func matmulTile(_ plan: MatMulPlan) -> (rows: Int, columns: Int) {
    if traits.usesShuffles {
      // For each tile, reading the right operand costs as much as the products of two and a half rows.
      let rows = [16, 8, 4].min { first, second in
        func time(_ rows: Int) -> Int { (plan.rows + rows - 1) / rows * (2 * rows + 5) }
        return time(first) < time(second)
      }
      return (rows ?? 16, 4 * traits.lanes)
    }
    let rows = plan.rows <= 8 ? 8 : 64
    return (rows, traits.tileGroup / (rows / 8) * 4)
  }
}
