import KelvinBasics
import KelvinImages
import Synchronization
import Testing

@Suite struct PixelFormatTests {
  /// A colour as luma and chroma, by the forward equations of Rec. 601 and 709, in the ranges of `420f` and `420v`.
  private static func chroma(_ rgb: [Double], red: Double, blue: Double, isVideo: Bool) -> [UInt8] {
    let luma = red * rgb[0] + (1 - red - blue) * rgb[1] + blue * rgb[2]
    let pair = [(rgb[2] - luma) / (2 * (1 - blue)), (rgb[0] - luma) / (2 * (1 - red))]
    let level = isVideo ? 16 + luma * 219 / 255 : luma
    return ([level] + pair.map { 128 + $0 * (isVideo ? 224.0 / 255 : 1) }).map { UInt8(min(max($0.rounded(), 0), 255)) }
  }

  @Test(arguments: [
    (PixelFormat.yCbCr601Full, 0.299, 0.114, false), (.yCbCr601Video, 0.299, 0.114, true),
    (.yCbCr709Full, 0.2126, 0.0722, false), (.yCbCr709Video, 0.2126, 0.0722, true),
  ])
  func videoFrameHasItsOriginalColors(format: PixelFormat, red: Double, blue: Double, isVideo: Bool) throws {
    for color in [
      [255.0, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255], [0, 0, 0], [200, 120, 40], [13, 77, 201],
    ] {
      let part = Self.chroma(color, red: red, blue: blue, isVideo: isVideo)
      // Three by three pixels: the last column and row have chroma of their own.
      let bytes = [UInt8](repeating: part[0], count: 9) + (0..<4).flatMap { _ in [part[1], part[2]] }
      let rgb = try PixelBuffer(width: 3, height: 3, format: format, bytes: bytes).inRGB
      #expect(rgb.format == .rgb8 && rgb.bytes.count == 27)
      for (index, byte) in rgb.bytes.enumerated() {
        // A level of chroma is two of blue.
        #expect(abs(Double(byte) - color[index % 3]) <= 2, "\(format) \(color) \(rgb.bytes)")
      }
    }
  }

  @Test func chromaCoversTwoByTwoPixels() throws {
    let bytes: [UInt8] = [100, 100, 100, 100, 100, 100, 100, 100] + [128, 228, 128, 28]
    let rgb = try PixelBuffer(width: 4, height: 2, format: .yCbCr601Full, bytes: bytes).inRGB.bytes
    let reds = stride(from: 0, to: rgb.count, by: 3).map { rgb[$0] }
    #expect(reds == [240, 240, 0, 0, 240, 240, 0, 0])
  }

  @Test(arguments: [
    (PixelFormat.yCbCr601Full, 0.299, 0.114, false), (.yCbCr601Video, 0.299, 0.114, true),
    (.yCbCr709Full, 0.2126, 0.0722, false), (.yCbCr709Video, 0.2126, 0.0722, true),
  ])
  func everyLevelIsThatOfTheFormula(format: PixelFormat, red: Double, blue: Double, isVideo: Bool) throws {
    let (lumaScale, chromaScale) = isVideo ? (255.0 / 219, 255.0 / 224) : (1, 1)
    for cb in stride(from: 0, through: 255, by: 17) {
      for cr in stride(from: 0, through: 255, by: 15) {
        let pairs = (0..<128).flatMap { _ in [UInt8(cb), UInt8(cr)] }
        let rgb = try PixelBuffer(width: 256, height: 1, format: format, bytes: Array(0...255) + pairs).inRGB.bytes
        let (pb, pr) = (Double(cb - 128) * chromaScale, Double(cr - 128) * chromaScale)
        for luma in 0...255 {
          let level = Double(luma - (isVideo ? 16 : 0)) * lumaScale
          let (r, b) = (level + 2 * (1 - red) * pr, level + 2 * (1 - blue) * pb)
          let expected = [r, (level - red * r - blue * b) / (1 - red - blue), b].map { min(max($0, 0), 255) }
          for (got, wanted) in zip(rgb[3 * luma..<3 * luma + 3], expected) where abs(Double(got) - wanted) > 0.55 {
            Issue.record("\(format) \(luma) \(cb) \(cr): \(got), expected \(wanted)")
          }
        }
      }
    }
  }

  @Test func floatPixelsRangeFromZeroToOne() throws {
    let floats: [Float] = [0, 1, 0.5, -1, 2, .nan, .infinity, 1 / 255]
    let expected: [UInt8] = [0, 255, 128, 0, 255, 0, 255, 1]
    let bytes = floats.flatMap { value in withUnsafeBytes(of: value.bitPattern) { Array($0) } }
    #expect(try PixelBuffer(width: 8, height: 1, format: .gray32Float, bytes: bytes).inBytes.bytes == expected)
    let halves: [UInt16] = [0, 0x3C00, 0x3800, 0xBC00, 0x4000, 0x7E00, 0x7C00, 0x1C04, 0x0001, 0x03FF]
    let short = halves.flatMap { value in withUnsafeBytes(of: value) { Array($0) } }
    let gray = try PixelBuffer(width: 10, height: 1, format: .gray16Half, bytes: short).inBytes
    #expect(gray.format == .gray8 && gray.bytes == expected + [0, 0])
    let colour = try PixelBuffer(width: 2, height: 1, format: .rgba16Half, bytes: Array(short.prefix(16))).inBytes
    #expect(colour.format == .rgb8 && colour.bytes == [0, 255, 128, 255, 0, 255])
  }

  @Test func conversionKeepsColoursAndAlpha() throws {
    let image = try PixelBuffer(width: 2, height: 1, format: .rgba8, bytes: [10, 20, 30, 40, 50, 60, 70, 80])
    for (format, bytes) in [
      (PixelFormat.bgra8, [30, 20, 10, 40, 70, 60, 50, 80] as [UInt8]), (.argb8, [40, 10, 20, 30, 80, 50, 60, 70]),
      (.rgb8, [10, 20, 30, 50, 60, 70]), (.rgba8, image.bytes),
      // 0.299 · 10 + 0.587 · 20 + 0.114 · 30, and the same of the second pixel.
      (.gray8, [18, 58]),
    ] {
      let converted = try image.converted(to: format)
      #expect(converted.format == format && converted.bytes == bytes, "\(format): \(converted.bytes)")
      if format.alphaOffset != nil { #expect(try converted.converted(to: .rgba8).bytes == image.bytes, "\(format)") }
    }
    let opaque = try PixelBuffer(width: 1, height: 1, format: .gray8, bytes: [7]).converted(to: .bgra8)
    #expect(opaque.bytes == [7, 7, 7, 255])
    let floats: [Float] = [0, 1, 0.5, 0.25]
    let bytes = floats.flatMap { value in withUnsafeBytes(of: value.bitPattern) { Array($0) } }
    let float = try PixelBuffer(width: 1, height: 1, format: .rgba32Float, bytes: bytes)
    #expect(try float.converted(to: .argb8).bytes == [64, 0, 255, 128])
    #expect(throws: ImageError.self) { try image.converted(to: .yCbCr601Full) }
    #expect(throws: ImageError.self) { try image.converted(to: .rgba16Half) }
  }

  @Test func leadingAlphaIsIgnored() throws {
    let image = try PixelBuffer(width: 1, height: 1, format: .argb8, bytes: [9, 1, 2, 3])
    #expect(image.inRGB.bytes == [1, 2, 3])
    #expect(try image.resized(width: 1, height: 1).bytes == [1, 2, 3])
  }

  @Test(arguments: PixelFormat.allCases)
  func samplingMatchesThe8BitPixels(format: PixelFormat) throws {
    let image = try noise(13, 9, format, seed: 5)
    for orientation in [ImageOrientation.up, .right, .downMirrored] {
      let own = try image.resized(width: 5, height: 4, .centerCrop, orientation: orientation)
      #expect(try own == image.inBytes.resized(width: 5, height: 4, .centerCrop, orientation: orientation))
      let small = try image.thumbnail(side: 4, orientation: orientation)
      #expect(try small == image.inBytes.thumbnail(side: 4, orientation: orientation))
    }
  }

  /// Targets that are larger than the image share source rows; others have more columns than a block of the kernel.
  @Test(arguments: [PixelFormat.yCbCr601Full, .yCbCr709Video], [(16, 12), (45, 7), (67, 90)])
  func tensorOfAVideoFrameIsThatOfIts8BitPixels(format: PixelFormat, size: (width: Int, height: Int)) throws {
    let image = try noise(101, 37, format, seed: 9)
    for (order, arrangement) in [
      (ChannelOrder.rgb, ImageSampler.Arrangement.planar), (.bgr, .interleaved), (.bgr, .planar), (.grayscale, .planar),
    ] {
      for (orientation, crop) in [
        (ImageOrientation.up, ImageCropAndScale.scaleToFill), (.left, .centerCrop), (.rightMirrored, .scaleToFit),
        (.down, .centerCrop),
      ] {
        let sampler = ImageSampler(
          width: size.width, height: size.height, order: order, arrangement: arrangement, cropAndScale: crop)
        func tensor(_ image: PixelBuffer) throws -> [Float] {
          var tensor = [Float](repeating: .nan, count: sampler.elementCount)
          try tensor.withUnsafeMutableBufferPointer { tensor in
            try image.withPixels { view in
              try sampler.sample(view, orientation: orientation, scale: [0.25], bias: [-3], into: tensor)
            }
          }
          return tensor
        }
        let (own, bytes) = try (tensor(image), tensor(image.inRGB))
        #expect(own == bytes, "\(order) \(arrangement) \(orientation) \(crop)")
      }
    }
  }

  /// Copies a rectangle of an image with two planes.
  private func cut(_ part: PixelRect, from image: PixelBuffer) throws -> PixelBuffer {
    let bytes = image.bytes
    let luma = (part.y..<part.y + part.height).flatMap { y in
      bytes[y * image.width + part.x..<y * image.width + part.x + part.width]
    }
    let rowBytes = (image.width + 1) / 2 * 2
    let chroma = (part.y / 2..<(part.y + part.height + 1) / 2).flatMap { y in
      let start = image.width * image.height + y * rowBytes + part.x
      return bytes[start..<start + (part.width + 1) / 2 * 2]
    }
    return try PixelBuffer(width: part.width, height: part.height, format: image.format, bytes: luma + chroma)
  }

  @Test(arguments: 0..<60)
  func samplerReadsNoPixelOutsideItsStoredPart(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    func pick<Element>(_ all: [Element]) -> Element { all[Int.random(in: 0..<all.count, using: &random)] }
    let (width, height) = (Int.random(in: 1...70, using: &random), Int.random(in: 1...70, using: &random))
    let whole = try noise(width, height, pick([.yCbCr601Full, .yCbCr709Video]), seed: seed)
    let orientation = pick(ImageOrientation.allCases)
    let (wide, high) = orientation.swapsAxes ? (height, width) : (width, height)
    var sampler = ImageSampler(
      width: Int.random(in: 1...40, using: &random), height: Int.random(in: 1...40, using: &random),
      cropAndScale: pick(ImageCropAndScale.allCases))
    if Bool.random(using: &random) {
      let (x, y) = (Int.random(in: 0..<wide, using: &random), Int.random(in: 0..<high, using: &random))
      sampler.regionOfInterest = PixelRect(
        x: x, y: y, width: Int.random(in: 1...wide - x, using: &random),
        height: Int.random(in: 1...high - y, using: &random))
    }
    func tensor(_ sampler: ImageSampler, _ image: PixelBuffer) throws -> [UInt8] {
      var tensor = [UInt8](repeating: 77, count: sampler.elementCount)
      try tensor.withUnsafeMutableBufferPointer { tensor in
        try image.withPixels(for: sampler, orientation) { view in
          Result { try sampler.sample(view, orientation: orientation, into: tensor) }
        }.get()
      }
      return tensor
    }
    let part = try sampler.storedPart(width: width, height: height, orientation: orientation)
    let stored = PixelBuffer(try cut(part, from: whole), x: part.x, y: part.y, width: width, height: height)
    #expect(try tensor(sampler, stored) == tensor(sampler, whole), "seed \(seed)")

    // Every other use sees the whole image, in which the pixels around the part are zero.
    let bytes = stored.bytes
    #expect(bytes.count == whole.bytes.count && stored.borrowedPlanes == nil)
    for y in 0..<height {
      for x in 0..<width {
        let isInside =
          (part.x..<part.x + part.width).contains(x) && (part.y..<part.y + part.height).contains(y)
        let expected = isInside ? whole.bytes[y * width + x] : 0
        guard bytes[y * width + x] != expected else { continue }
        Issue.record("seed \(seed): pixel \(x), \(y) is \(bytes[y * width + x]), expected \(expected)")
        return
      }
    }
    #expect(try cut(part, from: stored) == cut(part, from: whole), "seed \(seed)")
    sampler.cropAndScale = .scaleToFill
    sampler.regionOfInterest = nil
    let zeroAround = try PixelBuffer(width: width, height: height, format: whole.format, bytes: bytes)
    #expect(try tensor(sampler, stored) == tensor(sampler, zeroAround), "seed \(seed)")
  }

  @Test(arguments: [(ImageOrientation.up, 420, 0, 1080, 1080), (.left, 420, 0, 1080, 1080)])
  func storedPartOfACroppedFrameIsItsMiddle(
    orientation: ImageOrientation, x: Int, y: Int, width: Int, height: Int
  ) throws {
    let sampler = ImageSampler(width: 224, height: 224, cropAndScale: .centerCrop)
    let part = try sampler.storedPart(width: 1920, height: 1080, orientation: orientation)
    // The pixels at the edge of an image that shrinks may be between two samples.
    #expect((x...x + 4).contains(part.x) && (y...y + 4).contains(part.y))
    #expect((width - 8...width).contains(part.width) && (height - 8...height).contains(part.height))
    #expect([part.x, part.y, part.width, part.height].allSatisfy { $0.isMultiple(of: 2) })
  }

  @Test(arguments: PixelFormat.allCases)
  func borrowedPixelsAreReadInPlaceAndReleasedOnce(format: PixelFormat) throws {
    let own = try noise(7, 5, format, seed: 6)
    let row = 7 * format.bytesPerPixel
    let gap = row + 11
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: gap * 5 + 19 * 3, alignment: 1)
    defer { memory.deallocate() }
    memory.initializeMemory(as: UInt8.self, repeating: 77)
    for y in 0..<5 { for x in 0..<row { memory[y * gap + x] = own.bytes[y * row + x] } }
    let base = try #require(memory.baseAddress)
    var planes = [PixelPlane(UnsafeRawPointer(base), bytesPerRow: gap)]
    if format.planeCount == 2 {
      for y in 0..<3 { for x in 0..<8 { memory[gap * 5 + y * 19 + x] = own.bytes[row * 5 + y * 8 + x] } }
      planes.append(PixelPlane(UnsafeRawPointer(base + gap * 5), bytesPerRow: 19))
    }
    let returned = Mutex(0)
    do {
      let borrowed = try PixelBuffer(width: 7, height: 5, format: format, planes: planes) {
        returned.withLock { $0 += 1 }
      }
      #expect(borrowed == own && borrowed.hashValue == own.hashValue)
      #expect(try borrowed.resized(width: 3, height: 3) == own.resized(width: 3, height: 3))
      borrowed.withPixels { #expect(UnsafeRawPointer($0.base) == UnsafeRawPointer(base)) }
      #expect(returned.withLock { $0 } == 0)
    }
    #expect(returned.withLock { $0 } == 1)
  }

  @Test func invalidPixelBuffersAreRefused() throws {
    let byte: [UInt8] = [0, 0, 0, 0]
    try byte.withUnsafeBytes { bytes in
      let base = try #require(bytes.baseAddress)
      let plane = PixelPlane(base, bytesPerRow: 4)
      for (width, format, planes) in [
        (2, .rgb8, [plane]), (1, .yCbCr601Full, [plane]), (1, .rgb8, [plane, plane]), (0, .rgb8, [plane]),
        (.max, .yCbCr601Full, [plane, plane]), (.max, .rgba32Float, [plane]),
        (1, .gray8, [PixelPlane(base, bytesPerRow: -4)]),
      ] as [(Int, PixelFormat, [PixelPlane])] {
        #expect(throws: ImageError.self, "\(width) \(format)") {
          _ = try PixelBuffer(width: width, height: 2, format: format, planes: planes)
        }
      }
    }
    #expect(throws: ImageError.self) { _ = try PixelBuffer(width: 3, height: 3, format: .yCbCr709Full, bytes: []) }
  }

  @Test(arguments: [PixelFormat.argb8, .bgra8, .rgba32Float, .gray16Half, .yCbCr709Video])
  func imagesOfAnyFormatAreWrittenAsFiles(format: PixelFormat) throws {
    let image = try noise(6, 4, format, seed: 8)
    guard let alpha = format.alphaOffset else {
      let read = try ImageCodec.decode(ImageCodec.encode(image))
      return #expect(read.pixels == image.inRGB)
    }
    // An image is composed on black where it is read.
    var bytes = image.bytes
    for pixel in stride(from: alpha, to: bytes.count, by: 4) { bytes[pixel] = 255 }
    let opaque = try PixelBuffer(width: 6, height: 4, format: format, bytes: bytes)
    #expect(try ImageCodec.decode(ImageCodec.encode(opaque)).pixels == opaque.inRGB)
  }
}
