import KelvinDevices
import KelvinGPU
import KelvinGraph

/// The tiles of a product.
enum ProductTiles: Hashable, Sendable {
  /// Each invocation computes a tile in registers and reads its operands from memory.
  case registers(RegisterTiles)
  /// Each group computes a tile and shares its operands in local memory.
  case staged(StagedProduct)
  /// Each group computes a rectangle, and shares in local memory what its windows see.
  case windows(WindowTile)
}

/// Tiles of positions by output channels: a convolution on blocked tensors, or rows times constant weights.
struct TiledProduct: Sendable {
  let window: SpatialWindow
  let batch, groups: Int
  /// The channels of all groups.
  let inputs, outputs: Int
  /// The layout: blocked, or dense with a position's channels contiguous in whole blocks.
  let layout: ValueLayout
  /// The tiles that an invocation may compute, unless the product is staged.
  var registers: RegisterTiles
  /// The tile of a group; nil for other tiles.
  private(set) var staging: StagedProduct?
  private(set) var windows: WindowTile?
  /// The phases of a transposed convolution, which has one group.
  var phases: TransposedPhases?

  var groupInputs: Int { inputs / groups }
  var groupOutputs: Int { outputs / groups }
  /// The height and width of the positions: of the output or, for a transposed convolution, of a phase.
  var plane: [Int] { phases?.positions ?? window.output }
  private var positions: Int { batch * plane[0] * plane[1] }
  /// The sizes that determine staged tiles.
  var size: ProductSize {
    ProductSize(
      positions: positions, depth: (groupInputs + 3) / 4 * 4 * (phases?.taps ?? window.taps), outputs: groupOutputs,
      groups: phases?.count ?? groups)
  }

  /// Blocks of output channels that an invocation computes. They do not depend on positions, because weights are packed
  /// by blocks and all input sizes of a model share packed weights.
  private var blocks: Int {
    if phases != nil { return min(registers.blocks, (outputs + 3) / 4) }
    if groups == 1 { return registers.blocks }
    return [registers.blocks, 2].first { outputs / groups % (4 * $0) == 0 } ?? 1
  }

  /// Positions that an invocation computes. Larger tiles waste more work beyond the last position; smaller tiles read
  /// more for each product.
  private func pixels(_ traits: VulkanTraits) -> Int {
    registers.pixels.min { time($0, traits) < time($1, traits) } ?? registers.pixels.lowerBound
  }

  /// Returns the estimated time of one input channel and tap with this many positions for each invocation, in products
  /// of a position and a block. Reading a vector of an operand costs about as much as two products.
  private func time(_ pixels: Int, _ traits: VulkanTraits) -> Int {
    let span = pixels * traits.tileGroup
    return (positions + span - 1) / span * traits.tileGroup * (pixels * blocks + 2 * pixels + blocks)
  }

  /// Returns the estimated time of the whole product in register tiles, in products of a position and a block.
  func time(_ traits: VulkanTraits) -> Double {
    Double(time(pixels(traits), traits)) * Double(groups * parts) * Double(groupInputs * window.taps)
  }

  /// Returns the positions by blocks that an invocation computes, as in `4x2`, or the positions by channels of a group,
  /// as in `64x32`.
  private func shape(_ traits: VulkanTraits) -> String {
    windows?.name ?? staging?.tile.name ?? "\(pixels(traits))x\(blocks)"
  }

  /// Groups along the side of the grid that is not folded, unlike the side of positions.
  var planes: Int {
    if let windows { return (outputs + windows.channels - 1) / windows.channels }
    guard let staging else { return size.groups * parts }
    return size.groups * ((groupOutputs + staging.tile.channels - 1) / staging.tile.channels) * staging.shares
  }

  /// Whether the groups fit the device's limit for a grid.
  func fits(_ traits: VulkanTraits) -> Bool { planes <= traits.groupLimit }

  /// Returns an offer whose alternatives use other tiles for the same product. Each alternative shape occurs once.
  ///
  /// - Parameter other: returns the product and the kernel with other tiles; nil if there is none.
  func alternating(
    _ offer: GPUOffer<VulkanTarget>, _ traits: VulkanTraits,
    _ other: (ProductTiles) -> (product: TiledProduct, kernel: NodeLowering<VulkanTarget>)?
  ) -> GPUOffer<VulkanTarget> {
    var names: Set = [shape(traits)]
    let others = otherTiles(traits).compactMap(other).compactMap {
      product, kernel -> GPUOffer<VulkanTarget>.Alternative? in
      let name = product.shape(traits)
      return product.fits(traits) && names.insert(name).inserted ? .init(name, kernel) : nil
    }
    return offer.with(others, beside: shape(traits))
  }

  /// Returns the offers of the product on blocked tensors, best first. Register tiles are for devices whose staged tiles
  /// fail their self-test.
  ///
  /// - Parameter staged: the same product by staged tiles, best first.
  func offers(
    beside staged: [TiledProduct], _ epilogue: Epilogue, _ context: KernelContext<VulkanTarget>, extraCost: Double
  ) -> [GPUOffer<VulkanTarget>] {
    let traits = context.target.traits
    let count = Double(size.positions * size.depth) * Double(size.outputs * size.groups)
    return (staged + [self]).enumerated().compactMap { place, product in
      guard product.fits(traits) else { return nil }
      let offer = context.blocked(
        product.kernel(epilogue), product.implementation, extraCost: extraCost + Double(place) * count)
      return product.alternating(offer, traits) { tiles in
        let other = product.cut(by: tiles)
        return (other, other.kernel(epilogue))
      }
    }
  }

  /// Returns tiles that add the same products in the same order. Register tiles read each operand more often, but wait
  /// for no other invocation.
  private func otherTiles(_ traits: VulkanTraits) -> [ProductTiles] {
    if windows != nil { return WindowTile.all(self, traits).map { .windows($0) } }
    guard let staging else { return traits.otherTiles.map { .registers($0) } }
    return otherStagedTiles(than: staging, traits).map { .staged($0) }
      + (staging.shares == 1 && staging.tile.arithmetic == .wide ? [.registers(registers)] : [])
  }

  /// Returns the same product in other tiles.
  func cut(by tiles: ProductTiles) -> TiledProduct {
    var product = self
    (product.staging, product.windows) = (nil, nil)
    switch tiles {
    case .registers(let registers): product.registers = registers
    case .staged(let staging): product.staging = staging
    case .windows(let tile): product.windows = tile
    }
    return product
  }

  /// The number of output channels in a tile of packed weights, and the number of tiles of a group.
  var tile: Int { staging == nil && windows == nil ? 4 * blocks : StagedTile.packed }
  var parts: Int { (groupOutputs + tile - 1) / tile }

  func kernel(_ epilogue: Epilogue) -> NodeLowering<VulkanTarget> {
    NodeLowering { lowering throws(DeviceError) in try lower(lowering, epilogue) }
  }

  /// Adds the kernel. Weights `[outputs, inputs of a group, taps]`, or `[inputs, outputs, taps]` of a transposed
  /// convolution, are the node's second input.
  private func lower(_ lowering: VulkanLowering, _ epilogue: Epilogue) throws(DeviceError) {
    let (node, rows) = (lowering.node, (groupInputs + 3) / 4 * 4)
    let codes =
      try phases == nil
      ? lowering.tiledQuantizedWeight(
        groups: groups, outputs: outputs / groups, channels: groupInputs, taps: window.taps, tile: tile, rows: rows,
        spare: 0) : nil
    let packed =
      if let codes {
        codes.storage
      } else if let phases {
        try lowering.phasedWeights(
          phases, outputs: outputs, inputs: inputs, tile: tile, rows: rows, parts: parts, spare: 0)
      } else {
        try lowering.tiledWeights(
          groups: groups, outputs: outputs / groups, channels: groupInputs, taps: window.taps, tile: tile, rows: rows,
          parts: parts, spare: 0)
      }
    let x = try lowering.read(node.inputs[0], layout)
    let bias = try lowering.bias(epilogue, channels: groups * parts * tile)
    let residual = try lowering.residual(epilogue, layout)
    run(lowering, x, packed, bias, residual, epilogue, lowering.write(node.outputs[0], layout), codes)
  }

  /// Adds the kernel. Weights are packed in tiles. Without a residual the kernel adds none.
  ///
  /// - Parameter codes: the layout of quantized weights.
  func run(
    _ lowering: VulkanLowering, _ x: Storage, _ weights: Storage, _ bias: Storage, _ residual: Storage?,
    _ epilogue: Epilogue, _ result: Storage, _ codes: QuantizedOperand? = nil
  ) {
    if let windows { return windows.run(self, lowering, [x, weights, bias], residual, epilogue, result) }
    if let staging { return run(staging, lowering, x, weights, bias, residual, epilogue, result) }
    let (target, traits) = (lowering.target, lowering.target.traits)
    let variant = traits.product("convolution", codes)
    let (shader, epilogue) = codes == nil ? traits.bounded(variant, epilogue) : (variant, epilogue)
    let (pixels, groupBlocks) = (pixels(traits), (groupInputs + 3) / 4)
    var parameters = Parameters(
      [(inputs + 3) / 4, groupBlocks, max(parts, 1), (outputs + 3) / 4, outputs, positions] + [
        window.inputCount, plane[0] * plane[1], plane[1],
      ] + window.input + window.geometry
    ).inverses(plane[0] * plane[1], plane[1]).activation(epilogue)
    let span = traits.tileGroup * pixels
    // A row's blocks are contiguous; the blocks of a cache line are read together.
    let chunk = layout == .dense && groupBlocks % traits.rowChunk == 0 ? traits.rowChunk : 1
    let (columns, z) = target.folded((positions + span - 1) / span)
    var specializationConstants = [
      traits.lanes, blocks, pixels, phases == nil && window.isPointwise ? 0 : 1, residual == nil ? 0 : 1,
      epilogue.activationCode, layout == .dense ? 1 : 0, chunk,
    ]
    if let codes {
      specializationConstants += [0, codes.bits, codes.meaning]
      parameters.add(codes.rowStart, codes.rowWords, codes.rows, (codes.rowChannels + 3) / 4, codes.lastTable)
      parameters = parameters.floats(codes.zero)
    } else if phases != nil {
      specializationConstants.append(1)
      parameters.add(window.output)
    }
    let others = residual.map { [$0] } ?? []
    let call = target.call(
      shader, [.float4, codes == nil ? .packed4 : .uint, .float4] + others.map { _ in .float4 },
      group: traits.tileGroup,
      specializationConstants: specializationConstants, parameters, groups: [columns, planes, z])
    lowering.run(call, [x, weights, bias] + others, result)
  }
}

extension Epilogue {
  /// The activation's number in shaders.
  var activationCode: Int { Int(activation?.code ?? UnaryFunction.noneCode) }

  /// The same epilogue with bounds in place of no activation and of a rectifier, so that all three share one pipeline;
  /// nil for any other activation.
  var bounded: Epilogue? {
    var bounded = self
    switch activation?.kind {
    case nil: bounded.activation = .clip(-.infinity, .infinity)
    case .relu: bounded.activation = .clip(0, .infinity)
    case .clip: break
    default: return nil
    }
    return bounded
  }
}
