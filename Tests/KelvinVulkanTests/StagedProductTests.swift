import KelvinBasics
import KelvinVulkan
import TestSupport
import Testing

/// The choice of staged tiles by counts, for cards of few, more and many compute units.
struct StagedProductTests {
  /// Products of MobileNetV2, ResNet-50, ViT-B/16, U-Net and MiniLM: positions, depth, outputs, groups.
  static let products = [
    (12544, 36, 32, 1), (12544, 32, 16, 1), (3136, 24, 144, 1), (196, 384, 64, 1), (196, 576, 96, 1),
    (49, 960, 160, 1), (49, 160, 960, 1), (49, 960, 320, 1), (49, 320, 1280, 1),
    (12544, 576, 32, 1), (12544, 196, 64, 1), (3136, 576, 64, 1), (784, 1152, 128, 1), (196, 2304, 256, 1),
    (196, 1024, 256, 1),
    (49, 4608, 512, 1), (49, 2048, 512, 1), (49, 512, 2048, 1), (16, 512, 512, 16), (49, 128, 128, 16),
    (197, 768, 768, 1), (197, 768, 3072, 1), (197, 3072, 768, 1), (1024, 4608, 256, 1), (64, 9216, 1024, 1),
    (128, 384, 1536, 1), (128, 1536, 384, 1), (4096, 32768, 4096, 1),
  ].map { ProductSize(positions: $0.0, depth: $0.1, outputs: $0.2, groups: $0.3) }

  /// The same products of bytes.
  static let ofBytes = products.map {
    ProductSize(
      positions: $0.positions, depth: ($0.depth + 3) / 4, outputs: $0.outputs, groups: $0.groups, packed: 4)
  }

  private func best(_ size: ProductSize, _ units: Int, partLimit: Int = 32 << 20) throws -> StagedProduct {
    try #require(StagedProduct.best(size, units: units, tiles: StagedTile.all, partLimit: partLimit))
  }

  @Test(arguments: [28, 84, 132]) func longChainsHaveTwoGroupsForEachUnit(units: Int) throws {
    for size in Self.products + Self.ofBytes {
      let product = try best(size, units)
      #expect(
        product.steps(size) <= 32 || product.groups(size) >= max(80, 2 * units), "\(size): \(product), \(units) units")
    }
  }

  @Test(arguments: [28, 84, 132]) func largeProductsReadATenthOfAByteForEachOperation(units: Int) throws {
    // Few positions or channels leave part of each tile unused.
    for size in Self.products + Self.ofBytes where size.positions >= 49 && size.outputs >= 32 && size.depth >= 9 {
      let operations = 2 * Double(size.positions * size.depth * size.outputs * size.groups * size.packed)
      guard operations > 2e7 else { continue }
      let product = try best(size, units)
      #expect(product.cacheBytes(size) <= 0.1 * operations, "\(size): \(product), \(units) units")
    }
  }

  @Test func fewUnitsShareNoShortDepth() throws {
    let size = ProductSize(positions: 3136, depth: 256, outputs: 64)
    #expect(try best(size, 8).shares == 1)
    #expect(try best(ProductSize(positions: 49, depth: 960, outputs: 160), 132).shares > 1)
  }

  @Test func largeSumsOfSharesAreNotMade() throws {
    let size = ProductSize(positions: 49, depth: 4608, outputs: 512)
    #expect(try best(size, 132).shares > 1)
    #expect(try best(size, 132, partLimit: 0).shares == 1)
    #expect(try best(size, 132, partLimit: 3 * 49 * 512 * 4).shares <= 3)
  }

  private static let matrices = [(8, 8, 8), (8, 16, 16), (16, 8, 16), (16, 16, 16), (16, 16, 32), (32, 8, 16)]

  private func tiles(_ matrix: (Int, Int, Int), lanes: Int, byteLimit: Int = 32 << 10) -> [StagedTile] {
    let matrix = CooperativeMatrix(rows: matrix.0, columns: matrix.1, depth: matrix.2)
    return StagedTile.all(matrix, multipliesHalves: true, lanes: lanes, invocations: 1024, byteLimit: byteLimit)
      .filter { $0.arithmetic == .matrices(matrix, lanes: lanes) }
  }

  @Test(arguments: [8, 16, 32, 64]) func subgroupsShareTheMatricesOfATile(lanes: Int) {
    for matrix in Self.matrices {
      let tiles = tiles(matrix, lanes: lanes)
      #expect(tiles.count >= 5, "\(matrix)")
      for tile in tiles {
        let own = tile.matrixConstants
        let (height, width) = (own[0] * own[3], own[1] * own[4])
        #expect(tile.positions % height == 0 && tile.channels % width == 0, "\(tile)")
        let parts = tile.positions / height * (tile.channels / width)
        #expect(parts * lanes <= tile.invocations, "\(tile)")
      }
    }
  }

  @Test func tilesBeyondTheLocalMemoryAreLeftOut() {
    let names = { (limit: Int) in Set(tiles((16, 16, 16), lanes: 32, byteLimit: limit).map(\.name)) }
    #expect(names(16 << 10) == names(32 << 10).subtracting(["64x64", "128x32x8", "128x64x8"]))
    #expect(names(1 << 10).isEmpty)
  }

  /// Operands of half the size, multiplied several times as fast.
  @Test(arguments: [28, 84, 132]) func float16IsEstimatedToBeFaster(units: Int) throws {
    for size in Self.products {
      let wide = try best(size, units).time(size, units: units)
      let matrix = CooperativeMatrix(rows: 16, columns: 16, depth: 16)
      for arithmetic in [StagedArithmetic.narrow, .matrices(matrix, lanes: 32)] {
        let tiles = StagedTile.all.map { $0.computed(in: arithmetic) }
        let product = try #require(StagedProduct.best(size, units: units, tiles: tiles, partLimit: 32 << 20))
        #expect(product.time(size, units: units) <= wide, "\(size): \(product), \(units) units")
        #expect(
          product.steps(size) <= 32 || product.groups(size) >= max(80, 2 * units),
          "\(size): \(product), \(units) units")
      }
    }
  }

  @Test func noTilesMakeNoProduct() {
    let size = ProductSize(positions: 49, depth: 960, outputs: 160)
    #expect(StagedProduct.best(size, units: 28, tiles: [], partLimit: 1 << 20) == nil)
  }

  @Test(arguments: Tier.seeds(20, of: 200 as UInt64)) func sharesCoverTheDepthAndNoneIsEmpty(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    func number(_ bits: Int) -> Int {
      Int.random(in: 1...1 << Int.random(in: 0...bits, using: &random), using: &random)
    }
    let size = ProductSize(positions: number(14), depth: 4 * number(12), outputs: number(11), groups: number(4))
    let units = number(8)
    let product = try best(size, units)
    let (steps, slabs) = (product.steps(size), (size.depth + 15) / 16)
    #expect(
      product.shares * steps >= slabs && (product.shares - 1) * steps < slabs, "seed \(seed): \(size), \(product)")
    #expect(
      product.groups(size) * product.tile.positions * product.tile.channels
        >= size.positions * size.outputs * size.groups * product.shares, "seed \(seed): \(size), \(product)")
  }
}
