import KelvinImages
import Testing

/// Expected pixels: Pillow and LittleCMS (`Tests/Images`).
@Suite(.enabled(if: decoderMissing == nil, "libvips is not installed"))
struct EncodingTests {
  /// Mean and largest difference of 255 that a format may have: decoders differ in how they enlarge chroma and round.
  private static func limits(_ name: String) -> (mean: Double, largest: Int) {
    if name.hasSuffix(".avif") { return (1.5, 40) }
    if name.contains("cmyk_icc") { return (1.5, 6) }
    if name.hasSuffix(".webp") { return (0.6, 12) }
    // Pillow truncates channels of 5 and 6 bits, Kelvin rounds.
    if name.hasPrefix("rgb5") { return (0.6, 1) }
    // A pixel composed on black is truncated instead of rounded.
    return name.contains("alpha") || name.contains("rgba") ? (0.6, 3) : (0.1, 2)
  }

  @Test func everyTestImageExists() {
    let suffixes = Set(ImageVectors.names.compactMap { $0.split(separator: ".").last })
    #expect(suffixes == ["jpg", "png", "webp", "bmp", "tiff", "gif", "avif"])
    #expect(ImageVectors.names.count > 40)
  }

  @Test(arguments: ImageVectors.names) func decodedPixelsMatchPillow(name: String) throws {
    let expected = try ImageVectors.expected(name)
    guard ImageVectors.isReadable(name) else { return }
    let decoded = try ImageCodec.decode(path: ImageVectors.path(name))
    let upright = try decoded.pixels.oriented(decoded.orientation)
    let limit = Self.limits(name)
    let mean = meanDifference(upright, expected)
    #expect(mean <= limit.mean, "\(name): \(upright.width) x \(upright.height)")
    let largest = zip(upright.bytes, expected.bytes).map { abs(Int($0) - Int($1)) }.max() ?? 0
    #expect(largest <= limit.largest, "\(name)")
  }

  @Test func givenOrientationReplacesTheEmbeddedOne() throws {
    let upright = try ImageVectors.expected("exif_1.jpg")
    for said in 1...8 {
      for given in ImageOrientation.allCases {
        let decoded = try ImageCodec.decode(path: ImageVectors.path("exif_\(said).jpg"), orientation: given)
        #expect(decoded.orientation == given)
        let turned = try decoded.pixels.oriented(given)
        #expect(meanDifference(turned, try upright.oriented(given)) < 1, "\(said), given \(given)")
      }
    }
  }

  @Test func colorProfilesAreApplied() throws {
    for name in ["display_p3.png", "adobe_rgb.png", "prophoto.png"] {
      let unmanaged = try ImageVectors.expected("rgb.png")
      let managed = try ImageCodec.decode(path: ImageVectors.path(name)).pixels
      #expect(meanDifference(managed, unmanaged) > 4, "\(name) would pass without its profile")
    }
  }
}
