import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  /// Words of four columns.
  func storedColumns(_ columns: Int) -> Int { (columns + 3) / 4 * 4 }

  func integerProduct(_ plan: IntegerProductPlan) -> Call<VulkanProgram> {
    let (pixels, columnTiles) = (max(min(4, plan.positions), 1), plan.storedColumns / 4)
    let tiles = (plan.positions + pixels - 1) / pixels
    let count = tiles * columnTiles * plan.groups * plan.images
    let imageWords = plan.groups * plan.window.taps * plan.channels * columnTiles
    let sizes = [
      count, plan.positions, tiles, columnTiles, plan.groups, plan.channels, plan.columns,
      plan.hasOwnWeights ? imageWords : 0, plan.window.output[1], plan.window.output[2],
    ]
    return flat(
      "integer_product", [.uint, .uint, .uint, .uint],
      constants: [
        pixels, plan.weights == .int8 ? 1 : 0, plan.areRows ? 1 : 0, plan.columns == 1 ? 1 : 0,
        plan.requantization == nil ? 0 : 1,
      ],
      Parameters(sizes + plan.window.parameters).inverses(
        tiles, columnTiles, plan.groups, plan.window.output[1], plan.window.output[2]), count: count)
  }
}
