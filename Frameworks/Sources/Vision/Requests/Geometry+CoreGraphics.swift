public import CoreGraphics
public import Foundation
public import KelvinVision

extension KelvinVision.NormalizedRect {
  /// Creates a rectangle from shares of an image's sides, from its lower left corner.
  public init(normalizedRect: CGRect) { self.init(normalizedRect) }

  init(_ rect: CGRect) {
    self.init(x: rect.minX, y: rect.minY, width: rect.width, height: rect.height)
  }

  /// Converts a rectangle in pixels.
  public init(imageRect: CGRect, in imageSize: CGSize) {
    self.init(
      x: imageRect.minX / imageSize.width, y: imageRect.minY / imageSize.height,
      width: imageRect.width / imageSize.width, height: imageRect.height / imageSize.height)
  }

  /// The rectangle in shares of an image's sides.
  public var cgRect: CGRect { CGRect(x: origin.x, y: origin.y, width: width, height: height) }

  /// Returns the rectangle in pixels of an image of this size.
  public func toImageCoordinates(_ imageSize: CGSize, origin: CoordinateOrigin = .lowerLeft) -> CGRect {
    let bottom = origin == .lowerLeft ? self.origin.y : 1 - self.origin.y - height
    return CGRect(
      x: self.origin.x * imageSize.width, y: bottom * imageSize.height, width: width * imageSize.width,
      height: height * imageSize.height)
  }
}

extension KelvinVision.NormalizedPoint {
  /// The point in shares of an image's sides.
  public var cgPoint: CGPoint { CGPoint(x: x, y: y) }

  /// Returns the point in pixels of an image of this size.
  public func toImageCoordinates(_ imageSize: CGSize, origin: CoordinateOrigin = .lowerLeft) -> CGPoint {
    CGPoint(x: x * imageSize.width, y: (origin == .lowerLeft ? y : 1 - y) * imageSize.height)
  }
}

extension KelvinVision.PixelBufferObservation {
  /// The image.
  public var cgImage: CGImage { CGImage(pixelBuffer) }
}
