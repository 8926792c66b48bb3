import KelvinDevices
import KelvinGPU
import KelvinGraph

/// A tile of positions by output channels that a group computes of a product. Its invocations share both operands in
/// local memory (`Shaders/staged_product.comp`).
package struct StagedTile: Hashable, Sendable {
  /// Positions and output channels of a group.
  package let positions, channels: Int
  /// Positions and blocks of four output channels of an invocation.
  package let pixels, blocks: Int
  package var arithmetic = StagedArithmetic.wide

  /// Channels of a tile of packed weights. All staged tiles read the same weights.
  static let packed = 16
  /// Input channels of a slab of the depth, or words of packed ones; matrices of float16 take twice as many.
  static let slab = 16
  /// The depth from which on the kernel's divisions would not be exact.
  static let depthLimit = 4 << 20
  /// Few positions and channels keep a large card busy; many read less for each product.
  package static let all = [
    StagedTile(positions: 32, channels: 32, pixels: 4, blocks: 1),
    StagedTile(positions: 128, channels: 16, pixels: 4, blocks: 1),
    StagedTile(positions: 64, channels: 32, pixels: 4, blocks: 1),
    StagedTile(positions: 128, channels: 32, pixels: 8, blocks: 1),
    StagedTile(positions: 64, channels: 64, pixels: 4, blocks: 1),
    StagedTile(positions: 64, channels: 64, pixels: 8, blocks: 1),
    StagedTile(positions: 128, channels: 64, pixels: 8, blocks: 1),
  ]

  package var invocations: Int { positions / pixels * (channels / (4 * blocks)) }
  /// The bytes of local memory, with the shader's gaps between lines.
  var localByteCount: Int {
    let vectors = (positions + 2) * arithmetic.slab / 4 + channels / 16 * (4 * arithmetic.slab + 4)
    guard case .matrices(let matrix, let lanes) = arithmetic else { return 4 * arithmetic.byteCount * vectors }
    let subgroups = positions / matrix.rows * (channels / matrix.columns) / matrices(matrix, lanes).count
    return 8 * (vectors + 2 * positions) + 4 * subgroups * matrix.rows * matrix.columns
  }

  /// Matrices of the result that a subgroup computes, down and across, so that there are about as many of each.
  private func matrices(_ matrix: CooperativeMatrix, _ lanes: Int) -> (down: Int, across: Int, count: Int) {
    let (most, wide) = (positions / matrix.rows, channels / matrix.columns)
    let count = max(most * wide * lanes / invocations, 1)
    var across = max(count / most, 1)
    while 4 * across * across <= count, 2 * across <= wide { across *= 2 }
    return (count / across, across, count)
  }

  /// The specialization constants of a shader with matrices.
  package var matrixConstants: [Int] {
    guard case .matrices(let matrix, let lanes) = arithmetic else { return [] }
    let own = matrices(matrix, lanes)
    return [matrix.rows, matrix.columns, matrix.depth, own.down, own.across]
  }

  /// Slabs of a depth.
  func slabs(_ depth: Int) -> Int { (depth + arithmetic.slab - 1) / arithmetic.slab }
  package var name: String { "\(positions)x\(channels)" + (pixels == 4 ? "" : "x\(pixels)") }
}

/// The sizes of a product that determine its tiles.
package struct ProductSize: Hashable, Sendable {
  package let positions: Int
  /// Input channels times taps, and output channels, of one group.
  package let depth, outputs: Int
  package let groups: Int
  /// Input channels in a word of local memory. Inputs are packed as they are staged, weights beforehand. With several,
  /// `depth` counts words.
  package let packed: Int

  package init(positions: Int, depth: Int, outputs: Int, groups: Int = 1, packed: Int = 1) {
    (self.positions, self.depth, self.outputs, self.groups) = (positions, depth, outputs, groups)
    self.packed = packed
  }
}

/// A staged tile, and the number of groups that share the depth of a tile. A pass of its own adds the sums of the
/// shares. Results depend on the shares, but not on the tile.
package struct StagedProduct: Hashable, Sendable {
  package let tile: StagedTile
  package let shares: Int

  /// The longest chain of slabs that a group computes one after another while compute units may be idle.
  package static let longestChain = 32
  /// The groups for each compute unit from which on a chain may be longer.
  package static let groupsPerUnit = 3
  /// The bytes that a large product may read from the cache for each floating-point operation, and the operations of
  /// a large product.
  private static let (bytesPerOperation, large) = (0.1, 1e7)
  /// Numbers of shares that are tried; a share has at least one slab.
  private static let shareCounts = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]
  /// Typical of cards: cycles of a read from the cache and of a dispatch that waits for another; bytes of the cache and
  /// multiply-adds for each cycle and compute unit; invocations of a unit.
  private static let (latency, launch, cacheBytes, rate, resident) = (300.0, 6000.0, 20.0, 128.0, 1024)

  init(_ tile: StagedTile, shares: Int) { (self.tile, self.shares) = (tile, shares) }

  /// Returns the tile and shares that are estimated to be fastest. Products with long chains in few groups come last,
  /// then large products that read much for each operation. Returns nil if no tile is given.
  ///
  /// - Parameters:
  ///   - units: the device's compute units.
  ///   - partLimit: the largest size of the sums of all shares, in bytes.
  package static func best(
    _ size: ProductSize, units: Int, tiles: [StagedTile], partLimit: Int
  ) -> StagedProduct? {
    let results = 4 * size.positions * ((size.outputs + 3) / 4 * 4) * size.groups
    let candidates = tiles.flatMap { tile in
      let slabs = tile.slabs(size.depth)
      return shareCounts.filter { $0 == 1 || $0 <= slabs && results <= partLimit / $0 }
        .map { StagedProduct(tile, shares: $0).withoutEmptyShares(slabs) }
    }
    return candidates.map { ($0, $0.rank(size, units: units)) }.min { $0.1 < $1.1 }?.0
  }

  /// Shares have equally many slabs, so fewer of them may cover the depth.
  private func withoutEmptyShares(_ slabs: Int) -> StagedProduct {
    let each = max((slabs + shares - 1) / shares, 1)
    return StagedProduct(tile, shares: max((slabs + each - 1) / each, 1))
  }

  /// Slabs of the depth that a group computes one after another.
  package func steps(_ size: ProductSize) -> Int { (tile.slabs(size.depth) + shares - 1) / shares }

  package func groups(_ size: ProductSize) -> Int {
    let down = (size.positions + tile.positions - 1) / tile.positions
    return down * ((size.outputs + tile.channels - 1) / tile.channels) * size.groups * shares
  }

  /// Bytes that all groups read from the cache and write as sums of shares. Lanes beyond the edges of the product read
  /// what others do.
  package func cacheBytes(_ size: ProductSize) -> Double {
    let across = (size.outputs + tile.channels - 1) / tile.channels
    let down = (size.positions + tile.positions - 1) / tile.positions
    let columns = (size.outputs + StagedTile.packed - 1) / StagedTile.packed * StagedTile.packed
    let read = size.groups * size.depth * (size.positions * size.packed * across + columns * down)
    return Double(read * tile.arithmetic.byteCount) + (shares > 1 ? partBytes(size) : 0)
  }

  private func partBytes(_ size: ProductSize) -> Double {
    Double(4 * shares) * Double(size.positions * size.outputs * size.groups)
  }

  /// The estimated time, in cycles of a compute unit.
  package func time(_ size: ProductSize, units: Int) -> Double {
    let slab = tile.arithmetic.slab
    let each = (groups(size) + units - 1) / units
    let rounds = Double((each * tile.invocations + Self.resident - 1) / Self.resident)
    let products = Double(slab * 4 * tile.pixels * tile.blocks) / tile.arithmetic.speed
    let reads = Double(slab * (tile.positions * size.packed + tile.channels) / tile.invocations)
    let chain = rounds * (max(Self.latency, products) + reads)
    let arithmetic = Double(each * tile.invocations) * products / Self.rate
    let cache = Self.cacheBytes * Double(units)
    let own = max(Double(steps(size)) * max(chain, arithmetic), cacheBytes(size) / cache)
    return own + (shares > 1 ? Self.time(ofPasses: 1, bytes: partBytes(size), units: units) : 0)
  }

  /// Returns the estimated time of passes that wait for others, and of the bytes that they read and write, in cycles of
  /// a compute unit.
  package static func time(ofPasses count: Int, bytes: Double, units: Int) -> Double {
    launch * Double(count) + bytes / (cacheBytes * Double(units))
  }

  /// Returns the float32 multiply-adds of a time on all units.
  package static func multiplyAdds(_ time: Double, units: Int) -> Double { time * rate * Double(units) }

  private func rank(_ size: ProductSize, units: Int) -> (Int, Double) {
    let isChained = steps(size) > Self.longestChain && groups(size) < Self.groupsPerUnit * units
    return ((isChained ? 2 : 0) + (Self.isHungry(size, cacheBytes(size)) ? 1 : 0), time(size, units: units))
  }

  /// Whether a product is large and reads so many bytes from the cache that it waits for them.
  static func isHungry(_ size: ProductSize, _ cacheBytes: Double) -> Bool {
    let operations = 2 * Double(size.positions * size.outputs * size.groups) * Double(size.depth * size.packed)
    return operations > large && cacheBytes > bytesPerOperation * operations
  }
}

extension TiledProduct {
  /// The key of offers with this implementation.
  var implementation: String {
    windows == nil ? staging?.tile.arithmetic.implementation ?? "tiles" : WindowTile.implementation
  }

  /// Returns the product by staged tiles in each arithmetic that its operands allow, and by rectangles, best first.
  func staged(_ context: KernelContext<VulkanTarget>, sharesDepth: Bool = true) -> [TiledProduct] {
    let traits = context.target.traits
    let products = context.stagedArithmetics.compactMap { staged(traits, sharesDepth: sharesDepth, arithmetic: $0) }
    guard !(context.inputs + context.outputs).contains(where: { context.target.isHalf($0.scalar) }),
      let tile = WindowTile.all(self, traits).first
    else { return products }
    let windows = cut(by: .windows(tile))
    let isBetter = products.first?.staging.map { tile.isBetter(than: $0, self, traits) } ?? true
    return isBetter ? [windows] + products : products + [windows]
  }

  /// Returns the estimated time by staged tiles, in cycles of a compute unit; nil for register tiles.
  func stagedTime(_ traits: VulkanTraits) -> Double? { staging?.time(size, units: traits.computeUnits) }

  /// Returns the product by staged tiles, chosen by counts. Returns nil for devices without local memory for them, and
  /// for few output channels.
  ///
  /// - Parameter sharesDepth: whether several groups may share the depth.
  func staged(
    _ traits: VulkanTraits, sharesDepth: Bool = true, arithmetic: StagedArithmetic = .wide
  ) -> TiledProduct? {
    let tiles = traits.stagedTiles.filter {
      $0.arithmetic == arithmetic && cut(by: .staged(StagedProduct($0, shares: 1))).fits(traits)
    }
    guard groupOutputs > StagedTile.packed / 2, groups == 1 || groupOutputs % 4 == 0,
      size.positions > 0, size.depth > 0, size.depth < StagedTile.depthLimit,
      let best = StagedProduct.best(
        size, units: traits.computeUnits, tiles: tiles,
        partLimit: sharesDepth ? min(traits.vectorLimit, traits.winograd.scratchLimit) : 0)
    else { return nil }
    let product = cut(by: .staged(best))
    let weightBytes = 4 * size.groups * product.parts * product.tile * size.depth
    return product.fits(traits) && weightBytes <= traits.vectorLimit ? product : nil
  }

  /// Staged tiles with equal results, the estimated time of which is at most twice that of `own`.
  func otherStagedTiles(than own: StagedProduct, _ traits: VulkanTraits) -> [StagedProduct] {
    let limit = 2 * own.time(size, units: traits.computeUnits)
    return traits.stagedTiles.map { StagedProduct($0, shares: own.shares) }.filter {
      $0 != own && $0.tile.arithmetic == own.tile.arithmetic && $0.time(size, units: traits.computeUnits) <= limit
    }
  }

  /// Taps to which the blocks of a slab belong: 0 without windows, 1, or 2 for several.
  private func taps(_ tile: StagedTile) -> Int {
    if phases == nil, window.isPointwise { return 0 }
    return (groupInputs + 3) / 4 * 4 % tile.arithmetic.slab == 0 ? 1 : 2
  }

  /// Adds the kernels of a staged product: the product, and the sum of shares if there are several.
  func run(
    _ staging: StagedProduct, _ lowering: VulkanLowering, _ x: Storage, _ weights: Storage, _ bias: Storage,
    _ residual: Storage?, _ epilogue: Epilogue, _ result: Storage
  ) {
    let (target, tile, isRows) = (lowering.target, staging.tile, layout == .dense)
    let (columns, z) = target.folded((size.positions + tile.positions - 1) / tile.positions)
    let (blocks, outputBlocks, area) = ((groupInputs + 3) / 4, (outputs + 3) / 4, plane[0] * plane[1])
    let parameters = Parameters(
      [(inputs + 3) / 4, blocks, outputBlocks, (groupOutputs + 3) / 4, outputs, size.positions]
        + [(groupOutputs + tile.channels - 1) / tile.channels, staging.shares, staging.steps(size)]
        + [window.inputCount, area, plane[1]] + window.input + window.geometry
    ).inverses(area, plane[1], blocks, window.kernel[1])
    let sharesDepth = staging.shares > 1
    let plain = Epilogue()
    func constants(_ epilogue: Epilogue, _ residual: Storage?) -> [Int] {
      [residual == nil ? 0 : 1, epilogue.activationCode]
    }
    let others = (sharesDepth ? nil : residual).map { [$0] } ?? []
    let call = target.call(
      "staged_product" + tile.arithmetic.shaderSuffix + (sharesDepth ? VulkanTarget.partsSuffix : ""),
      [.float4, .packed4, .float4] + others.map { _ in .float4 }, group: tile.invocations,
      specializationConstants: [
        tile.positions, tile.channels, tile.pixels, tile.blocks, taps(tile),
      ] + (sharesDepth ? constants(plain, nil) : constants(epilogue, residual)) + [
        isRows ? 1 : 0, phases == nil ? 0 : 1,
      ] + tile.matrixConstants,
      parameters.activation(sharesDepth ? plain : epilogue).followed(by: phases == nil ? [] : window.output),
      groups: [columns, planes, z])
    guard sharesDepth else {
      lowering.run(call, [x, weights, bias] + others, result)
      return
    }
    let count = size.positions * outputBlocks
    let sums = lowering.temporary(wide: 4 * staging.shares * count)
    lowering.run(call, [x, weights, bias], sums)
    let last = residual.map { [$0] } ?? []
    let columnArea = isRows ? 1 : area
    let sum = target.flat(
      "staged_sum", [.wide4] + last.map { _ in .float4 }, specializationConstants: constants(epilogue, residual),
      Parameters(count, staging.shares, columnArea, outputBlocks, outputs).inverses(columnArea, outputBlocks)
        .activation(epilogue), count: count)
    lowering.run(sum, [sums] + last, result)
  }
}
