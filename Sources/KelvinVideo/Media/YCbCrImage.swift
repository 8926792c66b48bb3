import Kelvin

/// An image with a plane of luma and a plane of chroma pairs. Chroma is the mean of 2 × 2 pixels, at their centre.
struct YCbCrImage {
  private(set) var bytes: [UInt8]
  let width: Int
  let height: Int
  let format: PixelFormat

  /// Converts an image by the equations of Rec. 601 or 709, according to the format, which has two planes.
  init(_ image: PixelBuffer, _ format: PixelFormat) {
    let (width, height) = (image.width, image.height)
    (self.width, self.height, self.format) = (width, height, format)
    let planes = format.planes(width: width, height: height)
    let (wide, luma) = (planes[1].rowBytes, width * height)
    let weights = Weights(format)
    let source = image.inRGB.bytes
    bytes = [UInt8](unsafeUninitializedCapacity: luma + wide * planes[1].rows) { target, count in
      source.withUnsafeBufferPointer { source in
        for pixel in 0..<luma {
          target.initializeElement(
            at: pixel, to: weights.luma(source[3 * pixel], source[3 * pixel + 1], source[3 * pixel + 2]))
        }
        for y in 0..<planes[1].rows {
          let rows = (2 * y * width, min(2 * y + 1, height - 1) * width)
          for x in 0..<(wide / 2) {
            let columns = (2 * x, min(2 * x + 1, width - 1))
            let corners = (
              3 * (rows.0 + columns.0), 3 * (rows.0 + columns.1), 3 * (rows.1 + columns.0), 3 * (rows.1 + columns.1)
            )
            func sum(_ channel: Int) -> Int {
              Int(source[corners.0 + channel]) + Int(source[corners.1 + channel]) + Int(source[corners.2 + channel])
                + Int(source[corners.3 + channel])
            }
            let (blue, red) = weights.chroma(sum(0), sum(1), sum(2))
            target.initializeElement(at: luma + y * wide + 2 * x, to: blue)
            target.initializeElement(at: luma + y * wide + 2 * x + 1, to: red)
          }
        }
      }
      count = luma + wide * planes[1].rows
    }
  }

  /// The image as a pixel buffer.
  var pixels: PixelBuffer {
    get throws(VideoError) {
      do throws(ImageError) {
        return try PixelBuffer(width: width, height: height, format: format, bytes: bytes)
      } catch { throw VideoError(.request, error.description) }
    }
  }
}

/// The equations of Rec. ITU-R BT.601-7 and BT.709-6 in units of 1/65536.
private struct Weights {
  private let black: Int
  private let (lumaRed, lumaGreen, lumaBlue): (Int, Int, Int)
  private let (blueRed, blueGreen, redGreen, redBlue, own): (Int, Int, Int, Int, Int)

  init(_ format: PixelFormat) {
    let (red, blue) = [.yCbCr601Full, .yCbCr601Video].contains(format) ? (0.299, 0.114) : (0.2126, 0.0722)
    let isFull = [.yCbCr601Full, .yCbCr709Full].contains(format)
    func scaled(_ factor: Double) -> Int { Int((factor * 65_536).rounded()) }
    let (luma, chroma) = isFull ? (1.0, 1.0) : (219.0 / 255, 224.0 / 255)
    black = isFull ? 0 : 16
    (lumaRed, lumaBlue) = (scaled(red * luma), scaled(blue * luma))
    lumaGreen = scaled(luma) - lumaRed - lumaBlue
    own = scaled(0.5 * chroma)
    blueRed = scaled(0.5 * chroma * red / (1 - blue))
    blueGreen = own - blueRed
    redBlue = scaled(0.5 * chroma * blue / (1 - red))
    redGreen = own - redBlue
  }

  @inline(__always)
  func luma(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> UInt8 {
    let sum = lumaRed &* Int(red) &+ lumaGreen &* Int(green) &+ lumaBlue &* Int(blue)
    return UInt8(truncatingIfNeeded: min(black &+ (sum &+ 32_768) >> 16, 255))
  }

  /// Returns blue and red chroma for sums of four pixels.
  @inline(__always)
  func chroma(_ red: Int, _ green: Int, _ blue: Int) -> (UInt8, UInt8) {
    func byte(_ sum: Int) -> UInt8 { UInt8(truncatingIfNeeded: min(max(128 &+ (sum &+ 131_072) >> 18, 0), 255)) }
    return (
      byte(own &* blue &- blueRed &* red &- blueGreen &* green),
      byte(own &* red &- redGreen &* green &- redBlue &* blue)
    )
  }
}
