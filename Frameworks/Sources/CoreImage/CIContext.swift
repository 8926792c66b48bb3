public import CoreGraphics
public import CoreVideo
public import Foundation
package import Kelvin

/// A key of a context's options. None has an effect.
public struct CIContextOption: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  /// Creates a key from its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Whether the CPU draws.
  public static let useSoftwareRenderer = CIContextOption(rawValue: "kCIContextUseSoftwareRenderer")
  /// The color space of intermediate images.
  public static let workingColorSpace = CIContextOption(rawValue: "kCIContextWorkingColorSpace")
  /// The color space of results.
  public static let outputColorSpace = CIContextOption(rawValue: "kCIContextOutputColorSpace")
  /// Whether intermediate images are kept.
  public static let cacheIntermediates = CIContextOption(rawValue: "kCIContextCacheIntermediates")
}

/// Draws images into buffers.
public final class CIContext: Sendable {
  /// Creates a context.
  public init(options: [CIContextOption: Any]? = nil) {}

  /// Draws an image into a buffer. Its lower left corner is at the buffer's, and pixels outside the image are unchanged.
  public func render(_ image: CIImage, to buffer: CVPixelBuffer) {
    let size = (CVPixelBufferGetWidth(buffer), CVPixelBufferGetHeight(buffer))
    render(
      image, to: buffer, bounds: CGRect(x: 0, y: 0, width: CGFloat(size.0), height: CGFloat(size.1)),
      colorSpace: nil)
  }

  /// Draws a part of an image into a buffer. The part's lower left corner is at the buffer's, and pixels outside the
  /// image are unchanged.
  ///
  /// - Precondition: the buffer has one plane.
  public func render(_ image: CIImage, to buffer: CVPixelBuffer, bounds: CGRect, colorSpace: CGColorSpace?) {
    let (width, height) = (CVPixelBufferGetWidth(buffer), CVPixelBufferGetHeight(buffer))
    buffer.withPixelWriter { write in
      image.paint(bounds: bounds, width: width, height: height, write)
    }
  }

  /// Returns a part of an image; nil if the part is empty or too large. Pixels outside the image are transparent.
  public func createCGImage(_ image: CIImage, from rect: CGRect) -> CGImage? {
    let part = rect.integral
    guard part.width >= 1, part.height >= 1,
      let context = CGContext(
        data: nil, width: Int(part.width), height: Int(part.height), bitsPerComponent: 8, bytesPerRow: 0,
        space: CGColorSpaceCreateDeviceRGB(),
        bitmapInfo: (image.extent.contains(part) ? CGImageAlphaInfo.noneSkipLast : .premultipliedLast).rawValue)
    else { return nil }
    image.paint(bounds: part, width: context.width, height: context.height) { context.set($2, $0, $1) }
    return context.makeImage()
  }
}

extension CIImage {
  /// Calls `body` with each pixel of a target that the image covers, from the top left.
  func paint(bounds: CGRect, width: Int, height: Int, _ body: (_ x: Int, _ y: Int, _ pixel: BytePixel) -> Void) {
    let up = CGAffineTransform(a: 1, b: 0, c: 0, d: -1, tx: 0, ty: CGFloat(kelvin.height))
    let down = CGAffineTransform(a: 1, b: 0, c: 0, d: -1, tx: -bounds.minX, ty: bounds.minY + CGFloat(height))
    let map = up.concatenating(transform).concatenating(down)
    guard map.a * map.d - map.b * map.c != 0, !extent.isNull else { return }
    let shown = extent.intersection(bounds)
    guard !shown.isNull else { return }
    ImagePainter(kelvin, through: map).paint(width: width, height: height, clip: shown.applying(down), body)
  }
}

extension CIImage {
  /// The pixels of the extent: those of Kelvin's image if there is no map or crop.
  package var rendered: PixelBuffer {
    let whole = CGRect(x: 0, y: 0, width: kelvin.width, height: kelvin.height)
    if transform.isIdentity, extent == whole { return kelvin }
    return CIContext().createCGImage(self, from: extent)?.kelvin ?? kelvin
  }
}
