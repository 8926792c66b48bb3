package import Kelvin

extension NormalizedRect {
  /// Returns the pixels of the upright image that the region touches, from the top left.
  ///
  /// - Throws: `invalidRequest` for a region that has no area or is outside the image.
  func pixels(of size: ImageSize) throws(VisionError) -> PixelRect {
    guard isWithinImage else {
      throw .invalidRequest(
        "the region of interest, \(width) x \(height) at (\(origin.x), \(origin.y)), is not "
          + "within the image, 1 x 1 from its lower left corner")
    }
    let rect = toImageCoordinates(size, origin: .upperLeft)
    // A tolerance of a thousandth of a pixel absorbs rounding errors.
    func range(_ start: Double, _ length: Double, _ side: Int) -> (Int, Int) {
      let first = min(max(Int((start + 1e-3).rounded(.down)), 0), side - 1)
      let last = min(max(Int((start + length - 1e-3).rounded(.up)), first + 1), side)
      return (first, last - first)
    }
    let (x, width) = range(rect.x, rect.width, size.width)
    let (y, height) = range(rect.y, rect.height, size.height)
    return PixelRect(x: x, y: y, width: width, height: height)
  }

  /// Returns the pixels that the region touches; nil for the whole image.
  func pixels(of image: PixelBuffer, _ orientation: ImageOrientation) throws(VisionError) -> PixelRect? {
    self == .fullImage ? nil : try pixels(of: ImageSize(image, orientation))
  }
}

extension ImageSize {
  /// Creates the size of an image in its upright orientation.
  package init(_ pixels: PixelBuffer, _ orientation: ImageOrientation) {
    self =
      orientation.swapsAxes
      ? ImageSize(width: pixels.height, height: pixels.width) : ImageSize(width: pixels.width, height: pixels.height)
  }
}
