import KelvinBasics
import KelvinImages
import Testing

@Suite struct IndexedPNGTests {
  private static func palette(_ count: Int) -> [IndexedPNG.Color] {
    (0..<count).map { (i: Int) in IndexedPNG.Color(red: UInt8(i), green: UInt8(i * 7 % 256), blue: UInt8(255 - i)) }
  }

  /// Runs of every length up to a few hundred, and noise between them.
  private static func indices(_ count: Int, seed: Int) -> [UInt8] {
    var random = SeededGenerator(seed: UInt64(truncatingIfNeeded: seed))
    var indices: [UInt8] = []
    while indices.count < count {
      let length = [1, 2, 3, 4, 5, 11, 18, 35, 131, 257, 258, 259, 260, 600].randomElement(using: &random) ?? 1
      indices += [UInt8](repeating: .random(in: 0...255, using: &random), count: length)
    }
    return Array(indices.prefix(count))
  }

  @Test(.enabled(if: decoderMissing == nil, "libvips is not installed"), arguments: 0..<25)
  func libvipsReadsThemBack(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(truncatingIfNeeded: seed))
    let (width, height) = (Int.random(in: 1...700, using: &random), Int.random(in: 1...40, using: &random))
    let indices = Self.indices(width * height, seed: seed)
    let colors = Self.palette(256)
    let file = try IndexedPNG.encode(width: width, height: height, indices: indices, palette: colors)
    let decoded = try ImageCodec.decode(file, name: "indexed.png").pixels
    #expect((decoded.width, decoded.height) == (width, height))
    let expected = indices.flatMap { [colors[Int($0)].red, colors[Int($0)].green, colors[Int($0)].blue] }
    #expect(decoded.bytes == expected, "seed \(seed)")
  }

  @Test func repeatedRowsCompressWell() throws {
    let row = (0..<1920).map { UInt8($0 / 320) }
    let indices = (0..<1080).flatMap { _ in row }
    let file = try IndexedPNG.encode(width: 1920, height: 1080, indices: indices, palette: Self.palette(6))
    #expect(file.count < 30_000)
  }

  @Test func indicesOutsideThePaletteAreRefused() {
    #expect(throws: ImageError.self) {
      try IndexedPNG.encode(width: 2, height: 1, indices: [0, 3], palette: Self.palette(3))
    }
    #expect(throws: ImageError.self) {
      try IndexedPNG.encode(width: 2, height: 1, indices: [0], palette: Self.palette(1))
    }
    #expect(throws: ImageError.self) { try IndexedPNG.encode(width: 1, height: 1, indices: [0], palette: []) }
  }
}
