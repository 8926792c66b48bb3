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
    (12544, 196, 64, 1), (3136, 576, 64, 1), (784, 1152, 128, 1), (196, 2304, 256, 1), (196, 1024, 256, 1),
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
    for size in Self.products + Self.ofBytes where size.positions >= 49 && size.outputs >= 64 && size.depth >= 16 {
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
