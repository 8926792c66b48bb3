public import Foundation

/// The whole image.
public let VNNormalizedIdentityRect = CGRect(x: 0, y: 0, width: 1, height: 1)

/// Returns whether a rectangle is the whole image.
public func VNNormalizedRectIsIdentityRect(_ normalizedRect: CGRect) -> Bool {
  normalizedRect == VNNormalizedIdentityRect
}

/// Returns a rectangle in pixels.
public func VNImageRectForNormalizedRect(_ normalizedRect: CGRect, _ imageWidth: Int, _ imageHeight: Int) -> CGRect {
  let (wide, high) = (CGFloat(imageWidth), CGFloat(imageHeight))
  return CGRect(
    x: normalizedRect.minX * wide, y: normalizedRect.minY * high, width: normalizedRect.width * wide,
    height: normalizedRect.height * high)
}

/// Returns a rectangle in shares of an image's sides.
public func VNNormalizedRectForImageRect(_ imageRect: CGRect, _ imageWidth: Int, _ imageHeight: Int) -> CGRect {
  let (wide, high) = (CGFloat(imageWidth), CGFloat(imageHeight))
  return CGRect(
    x: imageRect.minX / wide, y: imageRect.minY / high, width: imageRect.width / wide, height: imageRect.height / high)
}

/// Returns a point in pixels.
public func VNImagePointForNormalizedPoint(
  _ normalizedPoint: CGPoint, _ imageWidth: Int, _ imageHeight: Int
) -> CGPoint {
  CGPoint(x: normalizedPoint.x * CGFloat(imageWidth), y: normalizedPoint.y * CGFloat(imageHeight))
}

/// Returns a point in shares of an image's sides.
public func VNNormalizedPointForImagePoint(_ imagePoint: CGPoint, _ imageWidth: Int, _ imageHeight: Int) -> CGPoint {
  CGPoint(x: imagePoint.x / CGFloat(imageWidth), y: imagePoint.y / CGFloat(imageHeight))
}
