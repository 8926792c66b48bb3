import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  /// The number of products whose sum a float holds exactly for any operands: CHANNELS of the shader.
  private static let exactTerms = 256
  /// The most taps of a row that a card reads together.
  private static let mostTaps = 8

  /// Returns the columns rounded up to words of four.
  func storedColumns(_ columns: Int) -> Int { (columns + 3) / 4 * 4 }

  func integerProduct(_ plan: IntegerProductPlan) -> KernelDispatch<VulkanProgram> {
    let pixels = max(min(4, plan.positions), 1)
    let words = plan.storedColumns / 4
    let blocks = words > 1 ? traits.integerBlocks : 1
    let columnTiles = (words + blocks - 1) / blocks
    let tiles = (plan.positions + pixels - 1) / pixels
    let count = tiles * columnTiles * plan.groups * plan.images
    let terms = plan.window.taps * plan.channels
    let imageWords = plan.groups * terms * words
    let sizes = [
      count, plan.positions, tiles, columnTiles, plan.groups, plan.channels, plan.columns,
      plan.hasOwnWeights ? imageWords : 0, plan.window.output[1], plan.window.output[2],
    ]
    // The kernel reads words of four channels, which pays for several columns.
    let usesPackedDotProducts = traits.usesPackedDotProducts && plan.channels > 2 && plan.columns > 1
    let areSingle = plan.channels == 1 && plan.columns == 1 && terms <= Self.exactTerms
    let readsTogether = areSingle && traits.lineGroup != nil && plan.window.kernel[2] <= Self.mostTaps
    return flat(
      usesPackedDotProducts ? "integer_product_dot" : "integer_product", [.uint, .uint, .uint, .uint],
      specializationConstants: [
        pixels, plan.weights == .int8 ? 1 : 0, plan.areRows ? 1 : 0, plan.columns == 1 ? 1 : 0,
        plan.requantization == nil ? 0 : 1, blocks, terms > Self.exactTerms ? 1 : 0,
        plan.x == .int8 ? 1 : 0, readsTogether ? plan.window.kernel[2] : 1,
      ],
      Parameters(sizes + plan.window.input + plan.window.geometry).inverses(
        tiles, columnTiles, plan.groups, plan.window.output[1], plan.window.output[2]), count: count)
  }
}
