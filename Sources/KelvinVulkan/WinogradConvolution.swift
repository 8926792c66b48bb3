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

  /// Returns the Winograd implementation that is estimated to be faster than the taps, by counts of operations and
  /// bytes, and the multiply-adds that it saves. Returns nil if there is none.
  ///
  /// - Parameter direct: the convolution by its taps.
  static func best(
    _ op: Convolution, _ direct: TiledProduct, _ target: VulkanTarget
  ) -> (implementation: WinogradConvolution, saving: Double)? {
    guard op.groups == 1, let plan = WinogradPlan(direct.window, images: direct.batch),
      let implementation = WinogradConvolution(
        op, plan, direct, target.traits, .registers(target.traits.winograd.registers)),
      implementation.product(target.blocks).fits(target.traits)
    else { return nil }
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
      case .staged: StagedTile.packed / 4
      }
    storedBlocks = ((outputs + 3) / 4 + blocks - 1) / blocks * blocks
    let (limit, byteCount) = (traits.vectorLimit, 16 * WinogradPlan.points * (inputBlocks + storedBlocks))
    let weightByteCount = 64 * WinogradPlan.points * inputBlocks * storedBlocks
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
    let numbers = WinogradPlan.points * plan.tiles * (inputBlocks + (outputs + 3) / 4)
    let slabs = Double(plan.tiles) / Double(slab)
    return product(slab, blocks).time(traits) * slabs + Double(numbers) * traits.winograd.transformCost
  }

  /// Returns the products of tiles at their points, which are groups of a pointwise convolution.
  private func product(_ tiles: Int, _ blocks: ValueLayout) -> TiledProduct {
    TiledProduct(
      window: SpatialWindow(positions: tiles, axes: 2), batch: 1, groups: WinogradPlan.points,
      inputs: WinogradPlan.points * inputBlocks * 4, outputs: WinogradPlan.points * storedBlocks * 4, layout: blocks,
      registers: traits.winograd.registers
    ).cut(by: self.tiles)
  }

  var kernel: NodeLowering<VulkanTarget> {
    NodeLowering { lowering throws(DeviceError) in try lower(lowering) }
  }

  private func lower(_ lowering: VulkanLowering) throws(DeviceError) {
    let (node, blocks) = (lowering.node, lowering.target.blocks)
    let whole = product(slab, blocks)
    let weights = try lowering.winogradWeights(
      outputs: outputs, channels: inputs, tile: whole.tile, rows: inputBlocks * 4, parts: whole.parts,
      spare: 0)
    let zeros = lowering.weight("zeros/vulkan-\(whole.outputs)", count: whole.outputs) { _ in }
    let x = try lowering.read(node.inputs[0], blocks)
    let bias = try lowering.bias(op.epilogue, channels: outputs)
    let residual = try lowering.residual(op.epilogue, blocks).map { [$0] } ?? []
    let result = lowering.write(node.outputs[0], blocks)
    let points = lowering.temporary(slab * whole.inputs, of: .float32)
    let sums = lowering.temporary(slab * whole.outputs, of: .float32)
    for first in stride(from: 0, to: plan.tiles, by: slab) {
      let tiles = min(slab, plan.tiles - first)
      lowering.run(input(lowering.target, first, tiles), [x], points)
      product(tiles, blocks).run(lowering, points, weights, zeros, nil, Epilogue(), sums)
      lowering.run(output(lowering.target, first, tiles), [sums, bias] + residual, result)
    }
    lowering.run(repair(lowering.target, whole), [x, weights, bias] + residual, result)
  }

  private var outputBlocks: Int { (outputs + 3) / 4 }
  /// Returns the specialization constants of the kernels that write results.
  private func specializationConstants(_ epilogue: Epilogue) -> [Int] {
    [epilogue.addsResidual ? 1 : 0, epilogue.activationCode]
  }
  private var residuals: [OperandFormat] { op.epilogue.addsResidual ? [.float4] : [] }

  private func input(_ target: VulkanTarget, _ first: Int, _ tiles: Int) -> KernelDispatch<VulkanProgram> {
    let window = plan.window
    return target.flat(
      "winograd_input", [.float4],
      Parameters(
        [tiles * inputBlocks, tiles, first, inputBlocks, plan.rows, plan.columns] + window.input + window.before
      ).inverses(tiles, plan.rows * plan.columns, plan.columns), count: tiles * inputBlocks)
  }

  private func output(_ target: VulkanTarget, _ first: Int, _ tiles: Int) -> KernelDispatch<VulkanProgram> {
    let (shader, epilogue) = traits.bounded("winograd_output", op.epilogue)
    return target.flat(
      shader, [.wide4, .float4] + residuals, specializationConstants: specializationConstants(epilogue),
      Parameters(
        [tiles * outputBlocks, tiles, first, outputBlocks, storedBlocks, plan.rows, plan.columns] + plan.window.output
          + [outputs]
      ).inverses(tiles, plan.rows * plan.columns, plan.columns).activation(epilogue), count: tiles * outputBlocks)
  }

  private func repair(_ target: VulkanTarget, _ product: TiledProduct) -> KernelDispatch<VulkanProgram> {
    let window = plan.window
    let (shader, epilogue) = traits.bounded("winograd_repair", op.epilogue)
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
