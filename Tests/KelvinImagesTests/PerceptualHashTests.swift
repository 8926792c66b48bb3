import KelvinImages
import Testing

@Suite struct PerceptualHashTests {
  /// An image whose brightness is a function of the place, 0…1 along both sides.
  private func image(
    _ width: Int, _ height: Int, _ brightness: (Double, Double) -> Double
  ) throws -> PixelBuffer {
    var bytes: [UInt8] = []
    for y in 0..<height {
      for x in 0..<width {
        let value = brightness((Double(x) + 0.5) / Double(width), (Double(y) + 0.5) / Double(height))
        bytes += [UInt8](repeating: UInt8(min(max(value * 255, 0), 255)), count: 3)
      }
    }
    return try PixelBuffer(width: width, height: height, format: .rgb8, bytes: bytes)
  }

  private func hash(_ pixels: PixelBuffer, _ orientation: ImageOrientation = .up) throws -> UInt64 {
    try PerceptualHash.differences(in: DecodedImage(pixels: pixels, orientation: orientation))
  }

  @Test func bitsCompareEachPixelWithItsRightNeighbor() throws {
    #expect(try hash(try image(90, 80) { x, _ in 1 - x }) == .max)
    #expect(try hash(try image(90, 80) { x, _ in x }) == 0)
    #expect(try hash(try image(90, 80) { x, y in y < 0.5 ? 1 - x : x }) == 0xFFFF_FFFF_0000_0000)
    #expect(try hash(try image(90, 80) { x, _ in x < 0.5 ? 1 - x : x }) == 0xF0F0_F0F0_F0F0_F0F0)
  }

  @Test func hashDependsOnContentMoreThanOnSize() throws {
    func waves(_ x: Double, _ y: Double) -> Double {
      0.25 + 0.5 * abs((2.3 * x + 3 * y * y).truncatingRemainder(dividingBy: 2) - 1)
    }
    let hash = try hash(try image(900, 700, waves))
    #expect((hash ^ (try self.hash(try image(221, 173, waves)))).nonzeroBitCount <= 3)
    #expect((hash ^ (try self.hash(try image(900, 700) { 0.8 * waves($0, $1) + 0.1 }))).nonzeroBitCount <= 3)
    #expect((hash ^ (try self.hash(try image(900, 700) { waves(1 - $0, $1) }))).nonzeroBitCount > 16)
  }

  @Test(arguments: ImageOrientation.allCases)
  func hashIsOfTheUprightImage(orientation: ImageOrientation) throws {
    let stored = try image(72, 72) { x, y in (5 * x + 3 * y * x).truncatingRemainder(dividingBy: 1) }
    #expect(try hash(stored, orientation) == hash(try stored.oriented(orientation)))
  }

  @Test func reducedPixelsAreMeans() throws {
    let pixels = try PixelBuffer(width: 4, height: 2, format: .gray8, bytes: [0, 10, 100, 200, 20, 30, 100, 201])
    #expect(try pixels.reduced(width: 2, height: 1).bytes == [15, 150])
    #expect(try pixels.thumbnail(side: 2, orientation: .right).width == 1)
    #expect(try pixels.thumbnail(side: 100, orientation: .up) == pixels)
    #expect(throws: ImageError.self) { try pixels.reduced(width: 0, height: 1) }
  }
}
