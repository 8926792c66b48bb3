import KelvinImages
import Testing

/// Expected pixels: NumPy in float64 (`Tests/Images/geometry.py`).
@Suite struct PlacementTests {
  private struct Case {
    var numbers: [Int]
    var cropAndScale: ImageCropAndScale
    var expected: [UInt8]

    init?(_ line: Substring) {
      let words = line.split(separator: " ")
      guard words.count == 11, let rule = ImageCropAndScale(rawValue: String(words[3])) else { return nil }
      cropAndScale = rule
      numbers = words.prefix(10).compactMap { Int($0) }
      let digits = words[10].compactMap(\.hexDigitValue)
      expected = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
      guard numbers.count == 9 else { return nil }
    }
  }

  private static let cases: [Case] = {
    let text = String(decoding: ImageVectors.bytes(ImageVectors.folder + "/geometry.txt"), as: UTF8.self)
    return text.split(separator: "\n").compactMap(Case.init)
  }()

  private static func stored(_ width: Int, _ height: Int) throws -> PixelBuffer {
    var bytes: [UInt8] = []
    for y in 0..<height {
      for x in 0..<width {
        for c in 0..<3 { bytes.append(UInt8((x * x * 7 + y * 23 + x * y * 3 + c * 71) % 256)) }
      }
    }
    return try PixelBuffer(width: width, height: height, format: .rgb8, bytes: bytes)
  }

  @Test func placementFollowsTheDocumentedGeometry() throws {
    #expect(Self.cases.count == 80)
    for (index, item) in Self.cases.enumerated() {
      let n = item.numbers
      let sampler = ImageSampler(
        width: n[7], height: n[8], arrangement: .interleaved, cropAndScale: item.cropAndScale,
        regionOfInterest: PixelRect(x: n[3], y: n[4], width: n[5], height: n[6]))
      let orientation = try #require(ImageOrientation(rawValue: n[2]))
      let got = try samples(sampler, try Self.stored(n[0], n[1]), orientation)
      #expect(got.count == item.expected.count)
      let differences = zip(got, item.expected).map { abs(Int($0) - Int($1)) }
      // Fractions are kept to 1/16384, so that a value close to a half may round the other way.
      #expect((differences.max() ?? 0) <= 1, "case \(index)")
      #expect(differences.filter { $0 > 0 }.count <= 3 + got.count / 50, "case \(index)")
    }
  }
}
