import KelvinImages
import Testing

@Suite(.enabled(if: decoderMissing == nil, "libvips is not installed"))
struct DecodingTests {
  @Test(arguments: [PixelFormat.rgb8, .gray8]) func writtenImageIsReadBack(format: PixelFormat) throws {
    let image = try noise(37, 19, format, seed: 4)
    let decoded = try ImageCodec.decode(try ImageCodec.encode(image), name: "made.png")
    #expect(decoded.orientation == .up)
    #expect(decoded.pixels.format == .rgb8)
    let channels = format.channelCount
    for pixel in 0..<37 * 19 {
      for c in 0..<3 { #expect(decoded.pixels.bytes[pixel * 3 + c] == image.bytes[pixel * channels + c % channels]) }
    }
  }

  @Test func alphaIsComposedOnBlack() throws {
    let bytes: [UInt8] = [200, 100, 50, 255, 200, 100, 50, 0, 200, 100, 50, 128]
    for (format, order) in [(PixelFormat.rgba8, [0, 1, 2]), (.bgra8, [2, 1, 0])] {
      let image = try PixelBuffer(width: 3, height: 1, format: format, bytes: bytes)
      let decoded = try ImageCodec.decode(try ImageCodec.encode(image), name: "made.png").pixels.bytes
      for (pixel, alpha) in [255, 0, 128].enumerated() {
        for c in 0..<3 {
          #expect(abs(Double(decoded[pixel * 3 + c]) - Double(bytes[order[c]]) * Double(alpha) / 255) <= 1)
        }
      }
    }
  }

  @Test func embeddedOrientationCanBeOverridden() throws {
    let image = try gradient(48, 32)
    let jpeg = try ImageCodec.encode(image, as: .jpeg(quality: 95))
    let plain = try ImageCodec.decode(jpeg, name: "plain")
    #expect(plain.orientation == .up)
    #expect(meanDifference(plain.pixels, image) < 6)
    for orientation in ImageOrientation.allCases {
      let file = withExif(jpeg, orientation: orientation.rawValue)
      let decoded = try ImageCodec.decode(file, name: "turned")
      #expect(decoded.orientation == orientation)
      #expect(decoded.pixels == plain.pixels)
      #expect(decoded.width == (orientation.swapsAxes ? 32 : 48))
      #expect(try ImageCodec.decode(file, name: "turned", orientation: .leftMirrored).orientation == .leftMirrored)
    }
    #expect(try ImageCodec.decode(withExif(jpeg, orientation: 9), name: "odd").orientation == .up)
  }

  @Test func manyTasksDecodeTogether() async throws {
    let image = try noise(50, 40, .rgb8, seed: 9)
    let file = try ImageCodec.encode(image)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for task in 0..<32 {
        group.addTask {
          if task % 4 == 3 {
            let cut = Array(file.prefix(200 + task))
            do throws(ImageError) { _ = try ImageCodec.decode(cut, name: "cut") } catch {
              return error.code == .corrupt
            }
            return false
          }
          return try ImageCodec.decode(file, name: "whole").pixels == image
        }
      }
      for try await passed in group { #expect(passed) }
    }
  }

  @Test(.enabled(if: shared != nil, "no shared test material"), arguments: ["Landscape", "Portrait"])
  func allOrientationsGiveTheSameImage(kind: String) throws {
    let folder = try #require(shared) + "/images/exif/"
    let first = try ImageCodec.decode(path: folder + "\(kind)_1.jpg")
    let upright = try first.pixels.resized(width: 96, height: 96)
    for number in 2...8 {
      let decoded = try ImageCodec.decode(path: folder + "\(kind)_\(number).jpg")
      #expect(decoded.orientation.rawValue == number)
      #expect((decoded.width, decoded.height) == (first.width, first.height))
      let turned = try decoded.pixels.resized(width: 96, height: 96, orientation: decoded.orientation)
      #expect(meanDifference(turned, upright) < 3, "\(kind)_\(number)")
      let unturned = try decoded.pixels.resized(width: 96, height: 96)
      #expect(meanDifference(unturned, upright) > 10, "\(kind)_\(number) would pass unturned")
    }
  }

  @Test(.enabled(if: shared != nil, "no shared test material"))
  func everyKindOfPhotoIsRead() throws {
    let folder = try #require(shared) + "/images/"
    for (file, width, height) in [
      ("photos/cat_720p.jpg", 1280, 720), ("photos/squat.bmp", 500, 610), ("odd/pillow_hopper.gif", 128, 128),
      ("odd/pillow_flower.webp", 480, 360), ("odd/pillow_tiff_16bit_RGB.tiff", 100, 40),
      ("odd/pillow_pil_sample_cmyk.jpg", 100, 100), ("odd/pillow_hopper_gray.jpg", 128, 128),
      ("odd/imagers_progressive_cat.jpg", 320, 240), ("odd/pillow_hopper_bad_exif.jpg", 500, 500),
      ("odd/sharp_Flag_of_the_Netherlands-16bit.png", 900, 600),
    ] {
      let decoded = try ImageCodec.decode(path: folder + file)
      #expect((decoded.width, decoded.height) == (width, height), "\(file)")
    }
    let png = try ImageCodec.decode(path: folder + "odd/pillow_hopper.png").pixels
    for file in ["odd/pillow_hopper.bmp", "odd/pillow_hopper.jpg", "odd/pillow_hopper.webp", "odd/pillow_hopper.gif"] {
      #expect(meanDifference(try ImageCodec.decode(path: folder + file).pixels, png) < 8, "\(file)")
    }
  }
}
