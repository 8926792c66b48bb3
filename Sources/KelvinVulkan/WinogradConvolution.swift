import KelvinDevices
import KelvinGPU
import KelvinGraph

/// A convolution of 3 × 3 taps on blocked tensors by Winograd's tiles. Tiles are transformed to points, multiplied
/// there and transformed back, as many at a time as fit the scratch memory. A last kernel computes results affected by
/// inputs that are not finite from the taps.
struct WinogradConvolution: Sendable {
  private let op: Convolution
  private let plan: WinogradPlan
  private let inputs, outputs: Int
  /// Blocks of four channels; output blocks are rounded up to whole register tiles.
  private let inputBlocks, storedBlocks: Int
  private let traits: VulkanTraits
  private let direct: TiledProduct
  /// The tiles of the products.
  private let tiles: ProductTiles
  /// The largest number of tiles that are transformed at a time.
  private let slab: Int

  /// The shader that writes float32 from operands stored as float16.
  static let wideShader = "winograd_input_large"
  /// The fewest input and output channels for which large tiles are offered.
  private static let fewestChannels = 16

  /// Returns the Winograd implementation, and the multiply-adds that it is estimated to save, by counts of operations
  /// and bytes. Returns nil if there is none. Large tiles are returned even if they save nothing, and counted as
  /// slower if weights at the points would take more memory than the tiles.
  ///
  /// - Parameters:
  ///   - direct: the convolution by its taps.
  ///   - staged: the same in the best staged tiles, with which large tiles are compared.
  static func best(
    _ op: Convolution, _ direct: TiledProduct, _ staged: TiledProduct?, _ tile: WinogradTile, _ target: VulkanTarget
  ) -> (implementation: WinogradConvolution, saving: Double)? {
    guard op.groups == 1, let plan = WinogradPlan(direct.window, images: direct.batch, tile),
      let implementation = WinogradConvolution(
        op, plan, direct, target.traits, .registers(target.traits.winograd.registers)),
      implementation.product(target.blocks).fits(target.traits)
    else { return nil }
    if tile == .large {
      guard min(direct.inputs, direct.outputs) >= fewestChannels, let own = implementation.staged(target.blocks),
        let time = own.stagedTime(target.blocks), let other = staged?.stagedTime(target.traits)
      else { return nil }
      let saving = StagedProduct.multiplyAdds(other - time, units: target.traits.computeUnits)
      let hasManyTiles = plan.tiles * (own.inputBlocks + own.storedBlocks) >= 4 * own.inputBlocks * own.storedBlocks
      return (own, hasManyTiles ? saving : -saving.magnitude)
    }
    let saving = 16 * (direct.time(target.traits) - implementation.time(target.blocks))
    return saving > 0 ? (implementation.staged(target.blocks) ?? implementation, saving) : nil
  }

  private init?(
    _ op: Convolution, _ plan: WinogradPlan, _ direct: TiledProduct, _ traits: VulkanTraits, _ tiles: ProductTiles
  ) {
    self.traits = traits
    self.direct = direct
    self.tiles = tiles
    self.op = op
    self.plan = plan
    inputs = direct.inputs
    outputs = direct.outputs
    inputBlocks = (inputs + 3) / 4
    let blocks =
      switch tiles {
      case .registers(let registers): registers.blocks
      case .staged, .windows: StagedTile.packed / 4
      }
    storedBlocks = ((outputs + 3) / 4 + blocks - 1) / blocks * blocks
    let (limit, byteCount) = (traits.vectorLimit, 16 * plan.tile.points * (inputBlocks + storedBlocks))
    let weightByteCount = 64 * plan.tile.points * inputBlocks * storedBlocks
    guard plan.tiles > 0, max(byteCount, weightByteCount) <= limit else { return nil }
    slab = plan.slab(byteCount: byteCount, limit: min(limit, traits.winograd.scratchLimit))
  }

  /// Returns the same convolution with products in other tiles; nil if these take more than the available memory.
  func cut(by tiles: ProductTiles) -> WinogradConvolution? {
    WinogradConvolution(op, plan, direct, traits, tiles)
  }

  /// Returns the same convolution with products in staged tiles; nil if the device has none. The points are groups
  /// enough, so none shares its depth.
  private func staged(_ blocks: ValueLayout) -> WinogradConvolution? {
    guard let staging = product(blocks).staged(traits, sharesDepth: false)?.staging else { return nil }
    return cut(by: .staged(staging))
  }

  /// Returns the product of the tiles that are transformed at a time.
  func product(_ blocks: ValueLayout) -> TiledProduct { product(slab, blocks) }

  /// Returns the estimated time, in products of a position and a block.
  private func time(_ blocks: ValueLayout) -> Double {
    let numbers = plan.tile.points * plan.tiles * (inputBlocks + (outputs + 3) / 4)
    let slabs = Double(plan.tiles) / Double(slab)
    return product(slab, blocks).time(traits) * slabs + Double(numbers) * traits.winograd.transformCost
  }

  /// Returns the estimated time of staged products and of the passes around them, in cycles of a compute unit; nil if
  /// the products are not staged. Points and sums are float32, inputs and results float16. Inputs are read twice. All
  /// bytes count twice, because they may not fit the cache.
  private func stagedTime(_ blocks: ValueLayout) -> Double? {
    let (tile, slabs) = (plan.tile, (plan.tiles + slab - 1) / slab)
    let inputBytes = tile.points * (2 * 8 + 16) * inputBlocks
    let outputBytes = (tile.points * (16 + 16) + tile.side * tile.side * 8) * storedBlocks
    let passes = StagedProduct.time(
      ofPasses: 2 * slabs + 1, bytes: Double(2 * plan.tiles * (inputBytes + outputBytes)), units: traits.computeUnits)
    return product(blocks).stagedTime(traits).map { $0 * Double(plan.tiles) / Double(slab) + passes }
  }

  /// Returns the products of tiles at their points, which are groups of a pointwise convolution.
  private func product(_ tiles: Int, _ blocks: ValueLayout) -> TiledProduct {
    TiledProduct(
      window: SpatialWindow(positions: tiles, axes: 2), batch: 1, groups: plan.tile.points,
      inputs: plan.tile.points * inputBlocks * 4, outputs: plan.tile.points * storedBlocks * 4, layout: blocks,
      registers: traits.winograd.registers
    ).cut(by: self.tiles)
  }

  /// The key of offers with this implementation.
  var key: String { plan.tile.implementation }

  var kernel: NodeLowering<VulkanTarget> {
    NodeLowering { lowering throws(DeviceError) in try lower(lowering) }
  }

  private func lower(_ lowering: VulkanLowering) throws(DeviceError) {
    let (node, blocks) = (lowering.node, lowering.target.blocks)
    let whole = product(slab, blocks)
    let weights = try lowering.winogradWeights(
      plan.tile, outputs: outputs, channels: inputs, tile: whole.tile, rows: inputBlocks * 4, parts: whole.parts,
      spare: 0)
    let zeros = lowering.weight("zeros/vulkan-\(whole.outputs)", count: whole.outputs) { _ in }
    let x = try lowering.read(node.inputs[0], blocks)
    let bias = try lowering.bias(op.epilogue, channels: outputs)
    let residual = try lowering.residual(op.epilogue, blocks).map { [$0] } ?? []
    let result = lowering.write(node.outputs[0], blocks)
    let points = lowering.temporary(wide: slab * whole.inputs)
    let sums = lowering.temporary(wide: slab * whole.outputs)
    for first in stride(from: 0, to: plan.tiles, by: slab) {
      let tiles = min(slab, plan.tiles - first)
      lowering.run(input(lowering.target, first, tiles), [x], points)
      product(tiles, blocks).run(lowering, points, weights, zeros, nil, Epilogue(), sums)
      lowering.run(output(lowering.target, first, tiles), [sums, bias] + residual, result)
    }
    lowering.run(repair(lowering.target, whole), [x, weights, bias] + residual, result)
  }

  private var outputBlocks: Int { (outputs + 3) / 4 }
  private var shaderSuffix: String { plan.tile == .large ? "_large" : "" }
  /// Returns the specialization constants of the kernels that write results.
  private func specializationConstants(_ epilogue: Epilogue) -> [Int] {
    [epilogue.addsResidual ? 1 : 0, epilogue.activationCode]
  }
  private var residuals: [OperandFormat] { op.epilogue.addsResidual ? [.float4] : [] }

  private func input(_ target: VulkanTarget, _ first: Int, _ tiles: Int) -> KernelDispatch<VulkanProgram> {
    let window = plan.window
    // Two invocations transform a large tile.
    let count = tiles * inputBlocks * (plan.tile == .large ? 2 : 1)
    return target.flat(
      "winograd_input\(shaderSuffix)", [.float4],
      Parameters(
        [count, tiles, first, inputBlocks, plan.rows, plan.columns] + window.input + window.before
      ).inverses(tiles, plan.rows * plan.columns, plan.columns), count: count)
  }

  private func output(_ target: VulkanTarget, _ first: Int, _ tiles: Int) -> KernelDispatch<VulkanProgram> {
    let (shader, epilogue) = traits.bounded("winograd_output\(shaderSuffix)", op.epilogue)
    return target.flat(
      shader, [.wide4, .float4] + residuals, specializationConstants: specializationConstants(epilogue),
      Parameters(
        [tiles * outputBlocks, tiles, first, outputBlocks, storedBlocks, plan.rows, plan.columns] + plan.window.output
          + [outputs]
      ).inverses(tiles, plan.rows * plan.columns, plan.columns).activation(epilogue), count: tiles * outputBlocks)
  }

  private func repair(_ target: VulkanTarget, _ product: TiledProduct) -> KernelDispatch<VulkanProgram> {
    let window = plan.window
    let (shader, epilogue) = traits.bounded("winograd_repair\(shaderSuffix)", op.epilogue)
    return target.flat(
      shader, [.float4, .wide4, .float4] + residuals,
      specializationConstants: specializationConstants(epilogue) + [product.tile / 4],
      Parameters(
        [plan.tiles * outputBlocks, plan.tiles, outputBlocks, storedBlocks, plan.rows, plan.columns] + window.output
          + [outputs, inputBlocks] + window.input + window.before
      ).inverses(plan.tiles, plan.rows * plan.columns, plan.columns).activation(epilogue),
      count: plan.tiles * outputBlocks)
  }
}
