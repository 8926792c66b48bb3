import KelvinImages
import Testing

@Suite struct GeometryTests {
  @Test func enlargedImpulseMatchesThePublishedValues() throws {
    // One white column, four times as wide: the response published for Core ML's constructor.
    var bytes = [UInt8](repeating: 0, count: 16)
    bytes[4] = 255
    let image = try PixelBuffer(width: 16, height: 1, format: .gray8, bytes: bytes)
    let row = try samples(ImageSampler(width: 64, height: 1, order: .grayscale), image)
    #expect(Array(row[14..<22]) == [32, 96, 159, 223, 223, 159, 96, 32])
    #expect(row.filter { $0 != 0 }.count == 8)
  }

  @Test func enlargementByHalfMatchesThePublishedValues() throws {
    func response(at column: Int) throws -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: 16)
      bytes[column] = 255
      let image = try PixelBuffer(width: 16, height: 1, format: .gray8, bytes: bytes)
      return try samples(ImageSampler(width: 24, height: 1, order: .grayscale), image)
    }
    #expect(Array(try response(at: 4)[5..<8]) == [43, 212, 128])
    #expect(Array(try response(at: 5)[7..<10]) == [128, 212, 43])
  }

  @Test func imageOfTheTargetSizeIsUnchanged() throws {
    let image = try noise(13, 7, .rgb8, seed: 1)
    for cropAndScale in [ImageCropAndScale.centerCrop, .scaleToFit, .scaleToFill] {
      #expect(try image.resized(width: 13, height: 7, cropAndScale) == image)
    }
  }

  @Test func placementMatchesTheMeasuredValues() {
    func placed(_ option: ImageCropAndScale, _ w: Int, _ h: Int, _ tw: Int, _ th: Int) -> [Int] {
      let place = option.place(width: w, height: h, targetWidth: tw, targetHeight: th)
      return [place.x.inset, place.x.drawn, place.y.inset, place.y.drawn]
    }
    #expect(placed(.scaleToFit, 100, 50, 224, 224) == [0, 224, 56, 112])
    #expect(placed(.scaleToFit, 10, 20, 30, 10) == [12, 5, 0, 10])
    #expect(placed(.scaleToFit, 10000, 1, 224, 224) == [0, 224, 111, 1])
    #expect(placed(.centerCrop, 100, 50, 224, 224) == [-112, 448, 0, 224])
    #expect(placed(.centerCrop, 10, 10, 30, 20) == [0, 30, -5, 30])
    #expect(placed(.scaleToFill, 100, 50, 224, 112) == [0, 224, 0, 112])
  }

  @Test func barsAreZeroBeforeNormalization() throws {
    let image = try PixelBuffer(width: 2, height: 1, format: .rgb8, bytes: [UInt8](repeating: 255, count: 6))
    let sampler = ImageSampler(width: 4, height: 4, cropAndScale: .scaleToFit)
    var tensor = [Float](repeating: .nan, count: 48)
    tensor.withUnsafeMutableBufferPointer { tensor in
      image.withPixels { try? sampler.sample($0, scale: [1, 2, 0.5], bias: [-1, 3, 0.25], into: tensor) }
    }
    for (channel, (bar, white)) in ([(-1, 254), (3, 513), (0.25, 127.75)] as [(Float, Float)]).enumerated() {
      let rows = [bar, white, white, bar]
      #expect(Array(tensor[channel * 16..<channel * 16 + 16]) == rows.flatMap { [$0, $0, $0, $0] })
    }
  }

  @Test func rowPaddingIsSkipped() throws {
    let bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 99, 99, 7, 8, 9, 10, 11, 12]
    var tensor = [UInt8](repeating: 0, count: 12)
    try bytes.withUnsafeBytes { bytes in
      let plane = PixelPlane(try #require(bytes.baseAddress), bytesPerRow: 8)
      let view = PixelView(width: 2, height: 2, format: .rgb8, planes: [plane])
      try tensor.withUnsafeMutableBufferPointer { tensor in
        try ImageSampler(width: 2, height: 2, order: .bgr).sample(view, into: tensor)
      }
    }
    #expect(tensor == [3, 6, 9, 12, 2, 5, 8, 11, 1, 4, 7, 10])
  }

  @Test func regionOutsideTheImageIsRefused() throws {
    let image = try noise(8, 4, .rgb8, seed: 2)
    let whole = PixelRect(x: 0, y: 0, width: 4, height: 8)
    let sampler = ImageSampler(width: 2, height: 2, regionOfInterest: whole)
    #expect(throws: ImageError.self) { try samples(sampler, image) }
    #expect(try samples(sampler, image, .right).count == 12)
    for region in [
      PixelRect(x: -1, y: 0, width: 2, height: 2), PixelRect(x: 7, y: 0, width: 2, height: 2),
      PixelRect(x: 0, y: 0, width: 0, height: 2), PixelRect(x: .max, y: 0, width: .max, height: 2),
    ] {
      let outside = ImageSampler(width: 2, height: 2, regionOfInterest: region)
      #expect(throws: ImageError.self) { try samples(outside, image) }
    }
  }

  @Test func tensorsBecomeImages() throws {
    let tensor: [Float] = [0, 10.4, 300, 10.5, -3, .nan, 255, 1, 2, 254.4, 254.6, .infinity]
    let image = try tensor.withUnsafeBufferPointer {
      try PixelBuffer(planar: $0, width: 2, height: 2, order: .bgr)
    }
    #expect(image.bytes == [2, 0, 0, 254, 0, 10, 255, 255, 255, 255, 1, 11])
    #expect(throws: ImageError.self) {
      try tensor.withUnsafeBufferPointer { try PixelBuffer(planar: $0, width: 2, height: 3, order: .rgb) }
    }
  }
}
