public import CoreGraphics
public import CoreVideo
public import Foundation
@_exported public import ImageIO
public import Kelvin

/// A key of options that create or draw an image.
public struct CIImageOption: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  /// Creates a key from its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Whether the image is turned upright by the orientation of its file.
  public static let applyOrientationProperty = CIImageOption(rawValue: "kCIImageApplyOrientationProperty")
  /// Ignored: colors are those of sRGB.
  public static let colorSpace = CIImageOption(rawValue: "kCIImageColorSpace")
}

/// An image with an affine map and a crop, which ``CIContext`` draws. There are no filters.
public final class CIImage: Hashable, @unchecked Sendable {
  /// Kelvin's image, before the map and the crop.
  public let kelvin: PixelBuffer
  /// The map from pixels above the image's lower left corner.
  let transform: CGAffineTransform
  /// The part of the mapped image.
  public let extent: CGRect
  /// The buffer that the image was made from.
  public let pixelBuffer: CVPixelBuffer?
  /// The image that the image was made from.
  public let cgImage: CGImage?

  init(
    _ image: PixelBuffer, _ transform: CGAffineTransform = .identity, extent: CGRect? = nil,
    pixelBuffer: CVPixelBuffer? = nil, cgImage: CGImage? = nil
  ) {
    (kelvin, self.transform) = (image, transform)
    (self.pixelBuffer, self.cgImage) = (pixelBuffer, cgImage)
    self.extent = extent ?? CGRect(x: 0, y: 0, width: image.width, height: image.height).applying(transform)
  }

  /// Creates an image.
  public convenience init(cgImage: CGImage, options: [CIImageOption: Any]? = nil) {
    self.init(cgImage.kelvin, cgImage: cgImage)
  }

  /// Creates an image over a buffer's pixels, without a copy.
  public convenience init(cvPixelBuffer: CVPixelBuffer, options: [CIImageOption: Any]? = nil) {
    self.init(cvPixelBuffer.kelvin, pixelBuffer: cvPixelBuffer)
  }

  /// Creates an image over a buffer's pixels, without a copy.
  public convenience init(cvImageBuffer: CVImageBuffer, options: [CIImageOption: Any]? = nil) {
    self.init(cvPixelBuffer: cvImageBuffer)
  }

  /// Reads an image file; nil if it cannot be read or decoded.
  public convenience init?(contentsOf url: URL, options: [CIImageOption: Any]? = nil) {
    guard let image = try? ImageCodec.decode(path: url.path) else { return nil }
    self.init(image, options)
  }

  /// Decodes the bytes of an image file; nil if they are not an image.
  public convenience init?(data: Data, options: [CIImageOption: Any]? = nil) {
    guard let image = try? ImageCodec.decode([UInt8](data)) else { return nil }
    self.init(image, options)
  }

  private convenience init?(_ image: DecodedImage, _ options: [CIImageOption: Any]?) {
    guard options?[.applyOrientationProperty] as? Bool == true else {
      self.init(image.pixels)
      return
    }
    guard let upright = try? image.pixels.oriented(image.orientation) else { return nil }
    self.init(upright)
  }

  /// Returns the image of a map.
  public func transformed(by matrix: CGAffineTransform) -> CIImage {
    CIImage(kelvin, transform.concatenating(matrix), extent: extent.applying(matrix))
  }

  /// Returns a part of the image, at its place.
  public func cropped(to rect: CGRect) -> CIImage {
    CIImage(kelvin, transform, extent: extent.intersection(rect))
  }

  /// Returns the image turned upright, with its lower left corner at the origin.
  public func oriented(_ orientation: CGImagePropertyOrientation) -> CIImage {
    if orientation == .up { return self }
    let turned = transformed(by: orientationTransform(for: orientation))
    return turned
  }

  /// Returns the image turned upright, by the number of an orientation in EXIF.
  public func oriented(forExifOrientation orientation: Int32) -> CIImage {
    oriented(CGImagePropertyOrientation(rawValue: UInt32(clamping: orientation)) ?? .up)
  }

  /// Returns the map that turns the image upright, with its lower left corner at the origin.
  public func orientationTransform(for orientation: CGImagePropertyOrientation) -> CGAffineTransform {
    let matrix: CGAffineTransform =
      switch orientation {
      case .up: .identity
      case .upMirrored: CGAffineTransform(-1, 0, 0, 1, 0, 0)
      case .down: CGAffineTransform(-1, 0, 0, -1, 0, 0)
      case .downMirrored: CGAffineTransform(1, 0, 0, -1, 0, 0)
      case .leftMirrored: CGAffineTransform(0, -1, -1, 0, 0, 0)
      case .right: CGAffineTransform(0, -1, 1, 0, 0, 0)
      case .rightMirrored: CGAffineTransform(0, 1, 1, 0, 0, 0)
      case .left: CGAffineTransform(0, 1, -1, 0, 0, 0)
      }
    let place = extent.applying(matrix)
    return matrix.concatenating(CGAffineTransform(translationX: -place.minX, y: -place.minY))
  }

  public static func == (left: CIImage, right: CIImage) -> Bool { left === right }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
