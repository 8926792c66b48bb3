import Glibc
import KelvinBasics
import KelvinImages

func noise(_ width: Int, _ height: Int, _ format: PixelFormat, seed: Int) throws -> PixelBuffer {
  var random = SeededGenerator(seed: UInt64(truncatingIfNeeded: seed))
  let chroma = format.planeCount == 2 ? (width + 1) / 2 * ((height + 1) / 2) * 2 : 0
  let count = width * height * format.bytesPerPixel + chroma
  let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
  return try PixelBuffer(width: width, height: height, format: format, bytes: bytes)
}

/// An image of smooth gradients, which JPEG keeps nearly as it is.
func gradient(_ width: Int, _ height: Int) throws -> PixelBuffer {
  var bytes: [UInt8] = []
  for y in 0..<height {
    for x in 0..<width {
      bytes += [UInt8(x * 255 / max(1, width - 1)), UInt8(y * 255 / max(1, height - 1)), UInt8((x + y) % 128)]
    }
  }
  return try PixelBuffer(width: width, height: height, format: .rgb8, bytes: bytes)
}

func samples(
  _ sampler: ImageSampler, _ image: PixelBuffer, _ orientation: ImageOrientation = .up
) throws -> [UInt8] {
  var tensor = [UInt8](repeating: 77, count: sampler.elementCount)
  try tensor.withUnsafeMutableBufferPointer { tensor in
    try image.withPixels { view in
      Result { try sampler.sample(view, orientation: orientation, into: tensor) }
    }.get()
  }
  return tensor
}

func meanDifference(_ a: PixelBuffer, _ b: PixelBuffer) -> Double {
  guard a.width == b.width, a.height == b.height, a.format == b.format else { return .infinity }
  return Double(zip(a.bytes, b.bytes).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }) / Double(a.bytes.count)
}

/// A JPEG file with an EXIF segment of one entry, the orientation.
func withExif(_ jpeg: [UInt8], orientation: Int) -> [UInt8] {
  let tiff: [UInt8] = [
    0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, UInt8(orientation), 0, 0, 0, 0, 0, 0, 0,
  ]
  let payload = Array("Exif\0\0".utf8) + tiff
  let length = payload.count + 2
  return jpeg.prefix(2) + [0xff, 0xe1, UInt8(length >> 8), UInt8(length & 255)] + payload + jpeg.dropFirst(2)
}

/// Whether images can be decoded here, for tests that need it.
let decoderMissing: ImageError? = {
  do throws(ImageError) {
    try ImageCodec.prepare()
    return nil
  } catch {
    return error
  }
}()

/// The folder of shared test material, or nil.
let shared: String? = {
  let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
  let candidates = [getenv("KELVIN_SHARED").map { String(cString: $0) }, root + "/../shared"]
  return candidates.compactMap { $0 }.first { access($0 + "/images/exif", R_OK) == 0 }
}()
