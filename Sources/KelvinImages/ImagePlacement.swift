/// The mapping between an image and the target to which it was fitted. It is the continuous counterpart of
/// ``ImageSampler``: a pixel covers one unit and its centre is at 1/2.
package struct ImagePlacement: Hashable, Sendable {
  /// The part of the upright image that is drawn.
  package let region: PixelRect
  /// Whether the region is rotated counter-clockwise by 90 degrees before it is drawn.
  private let isTurned: Bool
  private let x: AxisPlacement
  private let y: AxisPlacement

  /// Creates a mapping.
  ///
  /// - Parameters:
  ///   - region: The region in pixels of the upright image, from its top left; not empty.
  ///   - width: The width of the target; positive.
  ///   - height: The height of the target; positive.
  package init(region: PixelRect, width: Int, height: Int, _ cropAndScale: ImageCropAndScale) {
    precondition(region.width > 0 && region.height > 0 && width > 0 && height > 0)
    self.region = region
    isTurned = cropAndScale.rotates
    let (wide, high) = isTurned ? (region.height, region.width) : (region.width, region.height)
    (x, y) = cropAndScale.place(width: wide, height: high, targetWidth: width, targetHeight: height)
  }

  /// Returns the point of the upright image at a point of the target, both from the top left.
  package func imagePoint(targetX: Double, targetY: Double) -> (x: Double, y: Double) {
    let (wide, high) = isTurned ? (region.height, region.width) : (region.width, region.height)
    let drawnX = (targetX - Double(x.inset)) * Double(wide) / Double(x.drawn)
    let drawnY = (targetY - Double(y.inset)) * Double(high) / Double(y.drawn)
    let (insideX, insideY) = isTurned ? (Double(region.width) - drawnY, drawnX) : (drawnX, drawnY)
    return (Double(region.x) + insideX, Double(region.y) + insideY)
  }

  /// Returns the point of the target at a point of the upright image; outside the target where the image is cropped.
  package func targetPoint(imageX: Double, imageY: Double) -> (x: Double, y: Double) {
    let (insideX, insideY) = (imageX - Double(region.x), imageY - Double(region.y))
    let (wide, high) = isTurned ? (region.height, region.width) : (region.width, region.height)
    let (drawnX, drawnY) = isTurned ? (insideY, Double(region.width) - insideX) : (insideX, insideY)
    return (
      Double(x.inset) + drawnX * Double(x.drawn) / Double(wide),
      Double(y.inset) + drawnY * Double(y.drawn) / Double(high)
    )
  }
}
