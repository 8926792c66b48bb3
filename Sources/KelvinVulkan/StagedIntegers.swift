import KelvinDevices
import KelvinGPU
import KelvinGraph

/// An integer product with constant weights, whose groups share tiles of both operands in local memory
/// (`Shaders/staged_integers.comp`). Sums are exact, so all tiles and shares have the same results.
struct StagedIntegers: Sendable {
  let plan: IntegerProductPlan
  let weights: IntegerWeights
  let staging: StagedProduct

  /// Tiles with at most two vectors of packed inputs for an invocation to stage, each of which takes 16 registers.
  private static let tiles = StagedTile.all.filter { $0.positions * 4 <= 2 * $0.invocations }

  /// Returns the implementations by tiles that are estimated to be fastest and at most half as fast, best first.
  static func all(_ plan: IntegerProductPlan, _ weights: IntegerWeights, _ traits: VulkanTraits) -> [StagedIntegers] {
    let window = plan.window
    let isFlat = [window.input, window.output, window.kernel].allSatisfy { $0[0] == 1 } && window.before[0] == 0
    let size = size(plan)
    guard isFlat, !plan.hasOwnWeights, plan.columns > StagedTile.packed / 2, size.positions > 0, size.depth > 0,
      size.depth < StagedTile.depthLimit / 4, 4 * words(plan) <= traits.vectorLimit
    else { return [] }
    let partLimit = 4 * min(traits.byteLimit / 4, traits.texelLimit, traits.winograd.scratchLimit / 4)
    // Without fast products of bytes, more sums of an invocation exceed its registers.
    let all = traits.stagedTiles.filter {
      tiles.contains($0) && (traits.usesPackedDotProducts || $0.pixels == 4)
    }.compactMap { tile in
      StagedProduct.best(size, units: traits.computeUnits, tiles: [tile], partLimit: partLimit)
    }.map { StagedIntegers(plan: plan, weights: weights, staging: $0) }.filter { $0.planes <= traits.groupLimit }
    func time(_ product: StagedIntegers) -> Double { product.staging.time(size, units: traits.computeUnits) }
    let best = StagedProduct.best(
      size, units: traits.computeUnits, tiles: all.map(\.staging.tile), partLimit: partLimit)
    guard let own = all.first(where: { $0.staging == best }) else { return [] }
    return [own] + all.filter { $0.staging != best && time($0) <= 2 * time(own) }
  }

  private static func size(_ plan: IntegerProductPlan) -> ProductSize {
    ProductSize(
      positions: plan.images * plan.positions, depth: (plan.channels + 3) / 4 * plan.window.taps,
      outputs: plan.columns, groups: plan.groups, packed: 4)
  }

  private var size: ProductSize { Self.size(plan) }
  private var columnTiles: Int { (plan.columns + staging.tile.channels - 1) / staging.tile.channels }
  private var planes: Int { plan.groups * columnTiles * staging.shares }

  /// Tiles of packed weights of all groups, and words of the depth in whole slabs.
  private static func packed(_ plan: IntegerProductPlan) -> (tiles: Int, depth: Int) {
    let (tile, slab) = (StagedTile.packed, StagedTile.slab)
    return (plan.groups * ((plan.columns + tile - 1) / tile), (size(plan).depth + slab - 1) / slab * slab)
  }

  private static func words(_ plan: IntegerProductPlan) -> Int {
    let (tiles, depth) = packed(plan)
    return tiles * (depth + 2) * StagedTile.packed
  }

  func lower(_ lowering: VulkanLowering) throws(DeviceError) {
    let (node, target, tile) = (lowering.node, lowering.target, staging.tile)
    let (window, columns) = (plan.window, plan.groups * plan.columns)
    let zeros = try lowering.constantWeight(3).weight.dense().integers
    let operands = [
      try lowering.read(node.inputs[0], .dense), try packed(lowering), try lowering.table(plan),
      try lowering.read(node.inputs[2], .dense),
    ]
    let sharesDepth = staging.shares > 1
    let (words, area) = ((plan.channels + 3) / 4, plan.areRows ? 1 : plan.positions)
    let (rows, z) = target.folded((size.positions + tile.positions - 1) / tile.positions)
    let call = target.call(
      target.traits.usesPackedDotProducts ? "staged_integers_dot" : "staged_integers", [.uint, .uint4, .uint, .uint],
      group: tile.invocations,
      specializationConstants: [
        tile.positions, tile.channels, tile.pixels, window.isPointwise ? 0 : 1, plan.areRows ? 1 : 0,
        plan.channels % 16 == 0 ? 1 : 0, plan.x == .int8 ? 1 : 0,
        zeros.allSatisfy { $0 == Self.offset(plan.weights) } ? 0 : 1,
        plan.requantization == nil || sharesDepth ? 0 : 1,
      ],
      Parameters(
        [size.positions, plan.groups, plan.channels, plan.columns, words, columnTiles]
          + [staging.shares, staging.steps(size), window.inputCount, area, window.output[2]]
          + window.input[1...] + [window.kernel, window.strides, window.dilations, window.before].flatMap { $0[1...] }
      ).inverses(area, window.output[2], words, window.kernel[2]),
      groups: [rows, planes, z])
    let result = lowering.write(node.outputs[0], .dense)
    guard sharesDepth else {
      lowering.run(call, operands, result)
      return
    }
    let count = size.positions * columns
    let sums = lowering.temporary(wide: staging.shares * count)
    lowering.run(call, operands, sums)
    let sum = target.flat(
      "staged_integer_sum", [.uint, .uint], specializationConstants: [plan.requantization == nil ? 0 : 1],
      Parameters(count, staging.shares, area, columns).inverses(area, columns), count: count)
    lowering.run(sum, [sums, operands[2]], result)
  }

  /// The difference between a number and the signed byte that has its place among signed bytes.
  private static func offset(_ scalar: ScalarType) -> Int { scalar == .int8 ? 0 : 128 }

  /// Returns the weights as the kernel reads them.
  private func packed(_ lowering: VulkanLowering) throws(DeviceError) -> Storage {
    let (weight, zeroPoints) = (try lowering.constantWeight(1), try lowering.constantWeight(3))
    let (tiles, depth) = Self.packed(plan)
    let tile = StagedTile.packed
    let key = "\(weight.name),\(zeroPoints.name)/vulkan-staged-bytes-\(weights.order)-\(plan.groups)"
    return lowering.weight(key, count: Self.words(plan)) { [plan, weights] target in
      let (integers, offset) = (zeroPoints.weight.dense().integers, Self.offset(plan.weights))
      let words = UnsafeMutableRawBufferPointer(target)
      let (sums, ownTiles) = (4 * tiles * depth * tile, tiles / plan.groups)
      weight.weight.dense().bytes.withUnsafeBytes { source in
        for group in 0..<plan.groups {
          for column in 0..<plan.columns {
            let zero = integers[integers.count == 1 ? 0 : group * plan.columns + column]
            let filler = UInt8(truncatingIfNeeded: zero - offset)
            let (part, lane) = (group * ownTiles + column / tile, column % tile)
            var place = 4 * (part * depth * tile + lane)
            var sum = 0
            for tap in 0..<plan.window.taps {
              for first in stride(from: 0, to: plan.channels, by: 4) {
                for channel in first..<first + 4 {
                  let isFilled = channel < plan.channels
                  let byte = isFilled ? source[weights.index(group, column, channel, tap)] : 0
                  let own = isFilled ? byte ^ UInt8(offset) : filler
                  words[place + channel - first] = own
                  sum += Int(Int8(bitPattern: own)) - (zero - offset)
                }
                place += 4 * tile
              }
            }
            while place < 4 * (part + 1) * depth * tile {
              for byte in 0..<4 { words[place + byte] = filler }
              place += 4 * tile
            }
            let end = 4 * (part * tile + lane)
            words.storeBytes(of: Int32(truncatingIfNeeded: sum), toByteOffset: sums + end, as: Int32.self)
            words.storeBytes(
              of: Int32(zero - offset), toByteOffset: sums + 4 * tiles * tile + end, as: Int32.self)
          }
        }
      }
    }
  }
}

extension VulkanTarget {
  func offers(_ plan: IntegerProductPlan, _ weights: IntegerWeights, _ context: KernelContext<Self>)
    -> [GPUOffer<Self>]
  {
    let all = StagedIntegers.all(plan, weights, traits).map { product in
      GPUOffer<Self>.Alternative(
        product.staging.tile.name, NodeLowering { lowering throws(DeviceError) in try product.lower(lowering) })
    }
    guard let own = all.first else { return [] }
    return [
      KernelOffer(own.kernel, StagedArithmetic.wide.implementation).with(Array(all.dropFirst()), beside: own.name)
    ]
  }
}
