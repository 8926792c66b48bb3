import CoreVideo
public import Foundation
public import Kelvin

/// The method that converts colors outside a color space. It has no effect.
public enum CGColorRenderingIntent: Int32, Sendable {
  /// The intent of a new image.
  case defaultIntent
  /// Has no effect.
  case absoluteColorimetric
  /// Has no effect.
  case relativeColorimetric
  /// Has no effect.
  case perceptual
  /// Has no effect.
  case saturation
}

/// An image that does not change.
public final class CGImage: Hashable, Sendable {
  /// Kelvin's image: ``PixelFormat/rgb8``, ``PixelFormat/gray8``, or ``PixelFormat/rgba8`` if there is alpha.
  public let kelvin: PixelBuffer

  /// Creates an image from one of Kelvin's. Formats other than red, green, blue, alpha and grey are converted.
  public init(_ image: PixelBuffer) {
    switch image.format {
    case .rgb8, .gray8, .rgba8: kelvin = image
    default: kelvin = image.withRedFirst ?? image
    }
  }

  /// Creates an image from pixels of 8 bits per component, and 8, 24 or 32 bits per pixel.
  ///
  /// - Returns: nil for other pixels, or if there are too few bytes. `decode` must be nil.
  public convenience init?(
    width: Int, height: Int, bitsPerComponent: Int, bitsPerPixel: Int, bytesPerRow: Int, space: CGColorSpace,
    bitmapInfo: CGBitmapInfo, provider: CGDataProvider, decode: UnsafePointer<CGFloat>?, shouldInterpolate: Bool,
    intent: CGColorRenderingIntent
  ) {
    guard bitsPerComponent == 8, decode == nil,
      let layout = BitmapLayout(bitsPerPixel: bitsPerPixel, info: bitmapInfo),
      width > 0, height > 0, width <= 1 << 20, height <= 1 << 20, bytesPerRow >= width * layout.byteCount,
      let data = provider.data as Data?, bytesPerRow <= 1 << 40,
      data.count >= bytesPerRow * (height - 1) + width * layout.byteCount
    else { return nil }
    let image = data.withUnsafeBytes { bytes in
      bytes.baseAddress.flatMap { CGImage(copying: $0, width, height, bytesPerRow: bytesPerRow, layout) }
    }
    guard let image else { return nil }
    self.init(image.kelvin)
  }

  convenience init?(
    copying base: UnsafeRawPointer, _ width: Int, _ height: Int, bytesPerRow: Int, _ layout: BitmapLayout
  ) {
    let format: PixelFormat = layout.isGray ? .gray8 : layout.alpha == nil ? .rgb8 : .rgba8
    var bytes: [UInt8] = []
    bytes.reserveCapacity(width * height * format.channelCount)
    for y in 0..<height {
      for x in 0..<width {
        let pixel = layout.load(base + y * bytesPerRow + x * layout.byteCount)
        bytes.append(pixel.red)
        if format == .gray8 { continue }
        bytes.append(pixel.green)
        bytes.append(pixel.blue)
        if format == .rgba8 { bytes.append(pixel.alpha) }
      }
    }
    guard let image = try? PixelBuffer(width: width, height: height, format: format, bytes: bytes) else { return nil }
    self.init(image)
  }

  /// The width in pixels.
  public var width: Int { kelvin.width }
  /// The height in pixels.
  public var height: Int { kelvin.height }
  /// The number of bits of a component: 8.
  public var bitsPerComponent: Int { 8 }
  /// The number of bits of a pixel: 8, 24 or 32.
  public var bitsPerPixel: Int { 8 * kelvin.format.channelCount }
  /// The distance between rows in bytes.
  public var bytesPerRow: Int { width * kelvin.format.channelCount }
  /// The color space: sRGB, or gray.
  public var colorSpace: CGColorSpace? { CGColorSpace(components: kelvin.format == .gray8 ? 1 : 3) }
  /// The place of alpha.
  public var alphaInfo: CGImageAlphaInfo { kelvin.format == .rgba8 ? .last : .none }
  /// The layout of a pixel.
  public var bitmapInfo: CGBitmapInfo { CGBitmapInfo(rawValue: alphaInfo.rawValue) }
  /// The order of bytes.
  public var byteOrderInfo: CGImageByteOrderInfo { .orderDefault }
  /// The format of a pixel.
  public var pixelFormatInfo: CGImagePixelFormatInfo { .packed }
  /// The pixels' bytes, in rows of ``bytesPerRow``.
  public var dataProvider: CGDataProvider? { CGDataProvider(kelvin.bytes) }

  /// Returns a part of the image; nil if the rectangle and the image have no pixel in common. The rectangle is in pixels
  /// from the top left.
  public func cropping(to rect: CGRect) -> CGImage? {
    let part = rect.standardized.integral.intersection(CGRect(x: 0, y: 0, width: width, height: height))
    guard !part.isNull, part.width >= 1, part.height >= 1 else { return nil }
    let (x, y, wide, high) = (Int(part.minX), Int(part.minY), Int(part.width), Int(part.height))
    let (all, step) = (kelvin.bytes, kelvin.format.channelCount)
    var bytes: [UInt8] = []
    for row in y..<y + high { bytes += all[(row * width + x) * step..<(row * width + x + wide) * step] }
    let image = try? PixelBuffer(width: wide, height: high, format: kelvin.format, bytes: bytes)
    return image.map(CGImage.init)
  }

  /// Returns a copy of the image.
  public func copy() -> CGImage? { CGImage(kelvin) }

  public static func == (left: CGImage, right: CGImage) -> Bool { left === right }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension PixelBuffer {
  /// The image with red first, or as grey; nil if it cannot be converted.
  fileprivate var withRedFirst: PixelBuffer? {
    try? converted(to: format.byteOffsets?.alpha != nil ? .rgba8 : format.channelCount == 1 ? .gray8 : .rgb8)
  }
}
