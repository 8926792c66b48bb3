public import Kelvin

extension CVBuffer {
  /// Creates a buffer with a copy of an image.
  ///
  /// - Parameters:
  ///   - image: the image, in any format.
  ///   - type: the pixel format; nil for one channel of 8 bits for a grey image, and ``kCVPixelFormatType_32BGRA`` for
  ///     others. Formats with several planes are not supported.
  /// - Returns: nil for a format that is not supported.
  public static func copying(_ image: PixelBuffer, as type: OSType? = nil) -> CVBuffer? {
    let type = type ?? image.usualType
    var made: CVBuffer?
    guard let format = PixelFormat(type), format.planeCount == 1,
      CVPixelBufferCreate(nil, image.width, image.height, type, nil, &made) == kCVReturnSuccess, let made
    else { return nil }
    made.write(image)
    return made
  }

  /// Writes an image of the buffer's size. Alpha is opaque unless the image has its own.
  ///
  /// - Precondition: the buffer has the image's size, and one plane.
  package func write(_ image: PixelBuffer) {
    guard let format = PixelFormat(type), format.planeCount == 1, image.width == width, image.height == height else {
      preconditionFailure("a buffer of one plane and \(image.width) x \(image.height) pixels")
    }
    let plane = memory.planes[0]
    if let stored = image.format == format ? image : try? image.converted(to: format) {
      let row = width * format.pixelByteCount
      stored.bytes.withUnsafeBytes { source in
        guard let base = source.baseAddress else { return }
        for y in 0..<height { (plane.base + y * plane.bytesPerRow).copyMemory(from: base + y * row, byteCount: row) }
      }
      return
    }
    let source = ByteImage(image)
    for y in 0..<height {
      let row = plane.base + y * plane.bytesPerRow
      for x in 0..<width { format.store(source[x, y], in: row, at: x) }
    }
  }
}

extension PixelBuffer {
  /// The format of a buffer for the image.
  fileprivate var usualType: OSType {
    switch format {
    case .gray8: kCVPixelFormatType_OneComponent8
    case .gray16Half: kCVPixelFormatType_OneComponent16Half
    case .gray32Float: kCVPixelFormatType_OneComponent32Float
    default: kCVPixelFormatType_32BGRA
    }
  }
}

/// A pixel of four bytes, with straight alpha.
package struct BytePixel {
  package var red: UInt8
  package var green: UInt8
  package var blue: UInt8
  package var alpha: UInt8

  package init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
    (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
  }

  /// The luma by Rec. 601.
  package var luma: UInt8 {
    let (red, green, blue) = (Int(red) * 299, Int(green) * 587, Int(blue) * 114)
    return UInt8((red + green + blue + 500) / 1000)
  }
}

/// An image whose pixels can be read one by one.
package struct ByteImage {
  package let width: Int
  package let height: Int
  package let hasAlpha: Bool
  private let bytes: [UInt8]
  private let step: Int
  private let offsets: (red: Int, green: Int, blue: Int, alpha: Int?)

  /// Creates a copy of an image's pixels, rounded to bytes.
  package init(_ image: PixelBuffer) {
    var image = image
    if image.format.byteOffsets == nil {
      let isGray = image.format.channelCount == 1
      do { image = try image.converted(to: isGray ? .gray8 : .rgb8) } catch {
        preconditionFailure("every format converts to bytes: \(error)")
      }
    }
    (width, height, bytes, step) = (image.width, image.height, image.bytes, image.format.channelCount)
    offsets = image.format.byteOffsets ?? (0, 0, 0, nil)
    hasAlpha = offsets.alpha != nil
  }

  package subscript(x: Int, y: Int) -> BytePixel {
    let at = (y * width + x) * step
    return BytePixel(
      red: bytes[at + offsets.red], green: bytes[at + offsets.green], blue: bytes[at + offsets.blue],
      alpha: offsets.alpha.map { bytes[at + $0] } ?? 255)
  }
}

extension PixelFormat {
  /// The offsets of the channels within a pixel of bytes; nil for other formats.
  package var byteOffsets: (red: Int, green: Int, blue: Int, alpha: Int?)? {
    switch self {
    case .rgb8: (0, 1, 2, nil)
    case .rgba8: (0, 1, 2, 3)
    case .bgra8: (2, 1, 0, 3)
    case .argb8: (1, 2, 3, 0)
    case .gray8: (0, 0, 0, nil)
    default: nil
    }
  }

  /// Writes a pixel into a row of this format. Video frames are left as they are.
  fileprivate func store(_ pixel: BytePixel, in row: UnsafeMutableRawPointer, at x: Int) {
    switch self {
    case .gray8: row.storeBytes(of: pixel.luma, toByteOffset: x, as: UInt8.self)
    case .gray16Half: row.storeBytes(of: Float16(pixel.luma) / 255, toByteOffset: 2 * x, as: Float16.self)
    case .gray32Float: row.storeBytes(of: Float(pixel.luma) / 255, toByteOffset: 4 * x, as: Float.self)
    case .rgba16Half:
      for (channel, value) in [pixel.red, pixel.green, pixel.blue, pixel.alpha].enumerated() {
        row.storeBytes(of: Float16(value) / 255, toByteOffset: 2 * (4 * x + channel), as: Float16.self)
      }
    case .rgba32Float:
      for (channel, value) in [pixel.red, pixel.green, pixel.blue, pixel.alpha].enumerated() {
        row.storeBytes(of: Float(value) / 255, toByteOffset: 4 * (4 * x + channel), as: Float.self)
      }
    default:
      guard let offsets = byteOffsets else { return }
      let at = row + x * channelCount
      at.storeBytes(of: pixel.red, toByteOffset: offsets.red, as: UInt8.self)
      at.storeBytes(of: pixel.green, toByteOffset: offsets.green, as: UInt8.self)
      at.storeBytes(of: pixel.blue, toByteOffset: offsets.blue, as: UInt8.self)
      if let alpha = offsets.alpha { at.storeBytes(of: pixel.alpha, toByteOffset: alpha, as: UInt8.self) }
    }
  }
}

extension CVBuffer {
  /// Calls `body` with a function that writes one pixel, from the top left.
  ///
  /// - Precondition: the buffer has one plane.
  package func withPixelWriter<Result>(
    _ body: ((_ x: Int, _ y: Int, _ pixel: BytePixel) -> Void) throws -> Result
  ) rethrows -> Result {
    guard let format = PixelFormat(type), format.planeCount == 1 else {
      preconditionFailure("images are drawn into buffers of one plane")
    }
    let plane = memory.planes[0]
    return try body { x, y, pixel in format.store(pixel, in: plane.base + y * plane.bytesPerRow, at: x) }
  }
}
