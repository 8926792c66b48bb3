/// The source positions for one target position along an axis: the offsets of the two nearest source pixels, and the
/// weight of the second in units of 1/16384.
struct Tap {
  static let weightBits = 14
  var near: Int
  var far: Int
  var weight: Int
}

/// The mapping of target pixels to stored pixels. Orientation, region, crop and scale are combined into offsets per
/// axis, in bytes or in pixels.
///
/// Along an axis of `side` source pixels drawn on `drawn` target pixels, target pixel p (counted from the inset)
/// samples at (p + 1/2) * side / drawn - 1/2, clamped to the source. These are half-pixel centres with two taps, and no
/// prefilter when shrinking. The fraction is rounded to 1/16384, which reproduces Core ML's results, ties included.
struct SamplingGrid {
  /// The offset of the region's top left pixel in the upright image.
  var origin: Int
  /// The target columns that the image covers; the others are zero.
  var columns: Range<Int>
  var rows: Range<Int>
  private var x: Axis
  private var y: Axis

  private struct Axis {
    var side: Int
    var stride: Int
    var placement: AxisPlacement
    var target: Int

    /// The target positions that the drawn image covers.
    var covered: Range<Int> {
      let start = min(max(placement.inset, 0), target)
      return start..<min(target, max(start, placement.inset + placement.drawn))
    }

    func tap(_ position: Int) -> Tap {
      let centre = (Double(position - placement.inset) + 0.5) * Double(side) / Double(placement.drawn) - 0.5
      let source = min(max(centre, 0), Double(side - 1))
      let near = Int(source)
      return Tap(
        near: near * stride, far: min(near + 1, side - 1) * stride,
        weight: Int(((source - Double(near)) * Double(1 << Tap.weightBits)).rounded()))
    }
  }

  /// Creates a grid.
  ///
  /// - Parameters:
  ///   - stored: The size of the stored image in pixels.
  ///   - steps: The distance to the next pixel in a row and in a column, in units of the offsets.
  ///   - region: The region, which must be within the upright image.
  init(
    _ stored: (width: Int, height: Int), steps: (pixel: Int, row: Int), orientation: ImageOrientation,
    region: PixelRect, target: (width: Int, height: Int), _ cropAndScale: ImageCropAndScale
  ) {
    let (reversedX, reversedY) = (orientation.reversesStoredX, orientation.reversesStoredY)
    let storedStepX = reversedX ? -steps.pixel : steps.pixel
    let storedStepY = reversedY ? -steps.row : steps.row
    let first = (reversedX ? (stored.width - 1) * steps.pixel : 0) + (reversedY ? (stored.height - 1) * steps.row : 0)
    let (stepX, stepY) = orientation.swapsAxes ? (storedStepY, storedStepX) : (storedStepX, storedStepY)
    let placed = cropAndScale.place(
      width: region.width, height: region.height, targetWidth: target.width, targetHeight: target.height)
    origin = first + region.x * stepX + region.y * stepY
    x = Axis(side: region.width, stride: stepX, placement: placed.x, target: target.width)
    y = Axis(side: region.height, stride: stepY, placement: placed.y, target: target.height)
    columns = x.covered
    rows = y.covered
  }

  func row(_ position: Int) -> Tap { y.tap(position) }

  /// The least and the greatest offset of a pixel that is read.
  var extent: ClosedRange<Int> {
    func ends(_ axis: Axis) -> (least: Int, greatest: Int) {
      let (first, last) = (axis.tap(axis.covered.lowerBound).near, axis.tap(axis.covered.upperBound - 1).far)
      return (min(first, last), max(first, last))
    }
    let (x, y) = (ends(x), ends(y))
    return origin + x.least + y.least...origin + x.greatest + y.greatest
  }

  /// Writes the taps of `columns` to `taps`, which has room for all of them.
  func fillColumns(_ taps: UnsafeMutableBufferPointer<Tap>) {
    for (i, position) in columns.enumerated() { taps.initializeElement(at: i, to: x.tap(position)) }
  }
}
