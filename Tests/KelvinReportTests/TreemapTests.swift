import KelvinBasics
import KelvinReport
import TestSupport
import Testing

/// The layout of treemaps: tiles for weights, in a rectangle.
@Suite struct TreemapTests {
  private static let bounds = Treemap.Rectangle(x: 3, y: 5, width: 640, height: 360)

  /// Weights of very different sizes, some of them equal.
  private static func weights(_ seed: UInt64) -> [Double] {
    var random = SeededGenerator(seed: seed)
    return (0..<1 + random.index(below: 60)).map { _ in
      let size = Double(1 << random.index(below: 24))
      return random.index(below: 4) == 0 ? size : size * (1 + random.unit())
    }
  }

  @Test(arguments: Tier.seeds(20, of: 400)) func areasAreProportionalToWeights(seed: UInt64) {
    let weights = Self.weights(seed)
    let unit = Self.bounds.area / weights.reduce(0, +)
    for (weight, tile) in zip(weights, Treemap.tiles(weights, in: Self.bounds)) {
      #expect(abs(tile.area - weight * unit) <= 1e-9 * Self.bounds.area, "seed \(seed)")
    }
  }

  @Test(arguments: Tier.seeds(20, of: 400)) func tilesCoverTheRectangleAndDoNotOverlap(seed: UInt64) {
    let tiles = Treemap.tiles(Self.weights(seed), in: Self.bounds)
    let area = tiles.reduce(0) { $0 + $1.area }
    #expect(abs(area - Self.bounds.area) <= 1e-9 * Self.bounds.area, "seed \(seed)")
    for (place, tile) in tiles.enumerated() {
      #expect(tile.x >= 3 && tile.x + tile.width <= 643 + 1e-9, "seed \(seed)")
      #expect(tile.y >= 5 && tile.y + tile.height <= 365 + 1e-9, "seed \(seed)")
      for other in tiles[(place + 1)...] {
        let width = min(tile.x + tile.width, other.x + other.width) - max(tile.x, other.x)
        let height = min(tile.y + tile.height, other.y + other.height) - max(tile.y, other.y)
        #expect(width <= 1e-9 || height <= 1e-9, "seed \(seed): \(tile) and \(other)")
      }
    }
  }

  @Test func equalWeightsGiveEqualTilesInTheirOrder() {
    let tiles = Treemap.tiles([2, 2, 2, 2], in: Treemap.Rectangle(x: 0, y: 0, width: 8, height: 8))
    #expect(tiles.allSatisfy { $0.width == 4 && $0.height == 4 })
    #expect(Set(tiles).count == 4 && tiles[0] == Treemap.Rectangle(x: 0, y: 0, width: 4, height: 4))
    #expect(Treemap.tiles([2, 2, 2, 2], in: Treemap.Rectangle(x: 0, y: 0, width: 8, height: 8)) == tiles)
  }

  /// The example of Bruls, Huizing and van Wijk: 6, 6, 4, 3, 2, 2, 1 in a rectangle of 6 by 4.
  @Test func exampleOfThePaperHasItsStrips() {
    let tiles = Treemap.tiles([1, 2, 6, 3, 6, 2, 4], in: Treemap.Rectangle(x: 0, y: 0, width: 6, height: 4))
    // Two tiles of 3 by 2 at the left.
    for tile in [tiles[2], tiles[4]] { #expect(abs(tile.width - 3) < 1e-12 && abs(tile.height - 2) < 1e-12) }
    // Then 4 and 3 beside each other in a strip of height 7/3.
    for tile in [tiles[6], tiles[3]] { #expect(abs(tile.height - 7.0 / 3) < 1e-12 && abs(tile.x - 3) < 2) }
    #expect(abs(tiles[6].width - 12.0 / 7) < 1e-12 && abs(tiles[3].width - 9.0 / 7) < 1e-12)
    // Below them 2, of 6/5 by 5/3.
    #expect(abs(tiles[1].width - 1.2) < 1e-12 && abs(tiles[1].height - 5.0 / 3) < 1e-12)
  }

  /// Slices of equal weights would have sides of 1 to 100.
  @Test func tilesAreNearlySquare() {
    let tiles = Treemap.tiles([Double](repeating: 1, count: 100), in: Self.bounds)
    let ratios = tiles.map { max($0.width / $0.height, $0.height / $0.width) }
    #expect(ratios.reduce(0, +) / 100 < 1.5, "\(ratios)")
  }

  @Test func weightsThatAreNotPositiveHaveNoArea() {
    let tiles = Treemap.tiles([0, 1, -2, .nan, .infinity, 3], in: Self.bounds)
    #expect(tiles.map { $0.area > 0 } == [false, true, false, false, false, true])
    #expect(abs(tiles[5].area - Self.bounds.area * 0.75) < 1e-6)
    #expect(Treemap.tiles([], in: Self.bounds).isEmpty)
    let flat = Treemap.tiles([1, 2], in: Treemap.Rectangle(x: 0, y: 0, width: 0, height: 9))
    #expect(flat.allSatisfy { $0.area == 0 && $0.height.isFinite })
  }
}
