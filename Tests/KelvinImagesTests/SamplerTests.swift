import KelvinBasics
import KelvinImages
import Testing

/// The definition, one pixel at a time in double precision: turn the whole image upright, take the region, turn it
/// again if asked, place it, and interpolate between four pixels.
private struct Definition {
  var width: Int
  var height: Int
  var rgb: [[Double]]

  subscript(_ x: Int, _ y: Int) -> [Double] { rgb[y * width + x] }

  init(width: Int, height: Int, pixel: (Int, Int) -> [Double]) {
    self.width = width
    self.height = height
    rgb = (0..<width * height).map { pixel($0 % width, $0 / width) }
  }

  init(_ stored: PixelBuffer) {
    let image = stored.inBytes
    let channels = image.format.channelCount
    self.init(width: image.width, height: image.height) { x, y in
      let at = (y * image.width + x) * channels
      let pixel = image.bytes[at..<at + channels].map(Double.init)
      let offsets = image.format.colorOffsets
      return [pixel[offsets.red], pixel[offsets.green], pixel[offsets.blue]]
    }
  }

  var mirrored: Definition { Definition(width: width, height: height) { self[width - 1 - $0, $1] } }
  var clockwise: Definition { Definition(width: height, height: width) { self[$1, height - 1 - $0] } }
  var counterClockwise: Definition { Definition(width: height, height: width) { self[width - 1 - $1, $0] } }

  /// Returns the transformation that shows an image of an EXIF orientation upright.
  func upright(_ exif: Int) -> Definition {
    switch exif {
    case 2: mirrored
    case 3: clockwise.clockwise
    case 4: clockwise.clockwise.mirrored
    case 5: clockwise.mirrored
    case 6: clockwise
    case 7: counterClockwise.mirrored
    case 8: counterClockwise
    default: self
    }
  }

  func region(_ r: PixelRect) -> Definition {
    Definition(width: r.width, height: r.height) { self[r.x + $0, r.y + $1] }
  }

  /// Nil where the image does not reach.
  func sample(_ x: Int, _ y: Int, _ place: (x: AxisPlacement, y: AxisPlacement)) -> [Double]? {
    func taps(_ position: Int, _ axis: AxisPlacement, _ side: Int) -> (Int, Int, Double)? {
      let p = position - axis.inset
      guard p >= 0, p < axis.drawn else { return nil }
      let source = (Double(p) + 0.5) * Double(side) / Double(axis.drawn) - 0.5
      let inside = min(max(source, 0), Double(side - 1))
      return (Int(inside), min(Int(inside) + 1, side - 1), inside - inside.rounded(.down))
    }
    guard let (x0, x1, fx) = taps(x, place.x, width), let (y0, y1, fy) = taps(y, place.y, height) else { return nil }
    return (0..<3).map { c in
      let top = self[x0, y0][c] * (1 - fx) + self[x1, y0][c] * fx
      let bottom = self[x0, y1][c] * (1 - fx) + self[x1, y1][c] * fx
      return top * (1 - fy) + bottom * fy
    }
  }
}

@Suite struct SamplerTests {
  @Test(arguments: 0..<40) func samplerMatchesItsDefinition(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(truncatingIfNeeded: seed))
    func size() -> Int { [1, 2, 3, 7, 13, 17, 31, 64].randomElement(using: &random) ?? 1 }
    let format = PixelFormat.allCases.randomElement(using: &random) ?? .rgb8
    let image = try noise(size(), size(), format, seed: seed)
    for orientation in ImageOrientation.allCases {
      for cropAndScale in ImageCropAndScale.allCases {
        let order = ChannelOrder.allCases.randomElement(using: &random) ?? .rgb
        let arrangement: ImageSampler.Arrangement = Bool.random(using: &random) ? .planar : .interleaved
        var upright = Definition(image).upright(orientation.rawValue)
        var region: PixelRect?
        if Bool.random(using: &random) {
          let x = Int.random(in: 0..<upright.width, using: &random)
          let y = Int.random(in: 0..<upright.height, using: &random)
          let part = PixelRect(
            x: x, y: y, width: .random(in: 1...upright.width - x, using: &random),
            height: .random(in: 1...upright.height - y, using: &random))
          region = part
          upright = upright.region(part)
        }
        if cropAndScale.rotates { upright = upright.counterClockwise }
        let sampler = ImageSampler(
          width: size(), height: size(), order: order, arrangement: arrangement, cropAndScale: cropAndScale,
          regionOfInterest: region)
        let got = try samples(sampler, image, orientation)
        let worst = difference(got, sampler, upright)
        let size = "\(image.width) x \(image.height)"
        #expect(worst <= 0.53, "seed \(seed): \(format), \(size), \(orientation), \(sampler)")
      }
    }
  }

  /// The largest distance of a sample from the definition; half a level is what rounding alone makes.
  private func difference(_ got: [UInt8], _ sampler: ImageSampler, _ source: Definition) -> Double {
    let place = sampler.cropAndScale.place(
      width: source.width, height: source.height, targetWidth: sampler.width, targetHeight: sampler.height)
    let area = sampler.width * sampler.height
    var worst = 0.0
    for y in 0..<sampler.height {
      for x in 0..<sampler.width {
        let rgb = source.sample(x, y, place) ?? [0, 0, 0]
        let expected: [Double]
        switch sampler.order {
        case .rgb: expected = rgb
        case .bgr: expected = rgb.reversed()
        case .grayscale: expected = [0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]]
        }
        let rounding = sampler.order == .grayscale ? 0.5 : 0
        for (c, value) in expected.enumerated() {
          let pixel = y * sampler.width + x
          let at = sampler.arrangement == .planar ? c * area + pixel : pixel * expected.count + c
          worst = max(worst, abs(Double(got[at]) - value) - rounding)
        }
      }
    }
    return worst
  }

  @Test func channelsAreNormalizedSeparately() throws {
    let image = try noise(5, 4, .rgb8, seed: 3)
    let sampler = ImageSampler(width: 5, height: 4, order: .bgr)
    let plain = try samples(sampler, image)
    var tensor = [Float](repeating: 0, count: 60)
    tensor.withUnsafeMutableBufferPointer { tensor in
      image.withPixels { try? sampler.sample($0, scale: [0.5, 2, 3], bias: [1, -2, 4], into: tensor) }
    }
    for i in 0..<60 {
      #expect(tensor[i] == Float(plain[i]) * [0.5, 2, 3][i / 20] + [1, -2, 4][i / 20])
    }
  }

  @Test func fillingATensorNormalizesEachChannel() throws {
    let image = try noise(5, 4, .bgra8, seed: 4)
    let plain = try samples(ImageSampler(width: 3, height: 2, cropAndScale: .centerCrop), image)
    func filled(_ count: Int, scale: [Float]) throws -> [Float] {
      var tensor = [Float](repeating: 0, count: count)
      let result = tensor.withUnsafeMutableBufferPointer { tensor in
        Result {
          try image.fill(
            tensor, width: 3, height: 2, cropAndScale: .centerCrop, scale: scale, bias: [1, -2, 4])
        }
      }
      try result.get()
      return tensor
    }
    let tensor = try filled(18, scale: [0.5, 2, 3])
    for i in 0..<18 { #expect(tensor[i] == Float(plain[i]) * [0.5, 2, 3][i / 6] + [1, -2, 4][i / 6]) }
    #expect(throws: ImageError.self) { try filled(17, scale: [1]) }
    #expect(throws: ImageError.self) { try filled(18, scale: [1, 2]) }
  }

  @Test func orientationsRotateTheImage() throws {
    let stored = try PixelBuffer(width: 3, height: 2, format: .gray8, bytes: [1, 2, 3, 4, 5, 6])
    let expected: [ImageOrientation: [UInt8]] = [
      .up: [1, 2, 3, 4, 5, 6], .upMirrored: [3, 2, 1, 6, 5, 4], .down: [6, 5, 4, 3, 2, 1],
      .downMirrored: [4, 5, 6, 1, 2, 3], .leftMirrored: [1, 4, 2, 5, 3, 6], .right: [4, 1, 5, 2, 6, 3],
      .rightMirrored: [6, 3, 5, 2, 4, 1], .left: [3, 6, 2, 5, 1, 4],
    ]
    for (orientation, bytes) in expected {
      let upright = try stored.oriented(orientation)
      #expect(upright.bytes == bytes, "\(orientation)")
      #expect(upright.width == (orientation.swapsAxes ? 2 : 3))
    }
  }
}
