/// One target position along an axis: the two source positions it lies between, as offsets, and the weight of the second in
/// units of 1/16384.
struct Tap {
  static let weightBits = 14
  var near: Int
  var far: Int
  var weight: Int
}

/// How target pixels map onto stored pixels: orientation, region, crop and scale folded into offsets per axis: of bytes, or of
/// pixels.
///
/// Along an axis of `side` source pixels drawn on `drawn` target pixels, target pixel p (counted from the inset)
/// samples at (p + 1/2) * side / drawn - 1/2, clamped to the source: half-pixel centres, two taps, no prefilter when
/// shrinking. The fraction is rounded to 1/16384, which reproduces Core ML's measured responses, ties included.
struct SamplingGrid {
  /// Offset of the region's upright top left pixel.
  var origin: Int
  /// Target positions that the image covers; the rest is zero.
  var columns: Range<Int>
  var rows: Range<Int>
  private var x: Axis
  private var y: Axis

  private struct Axis {
    var side: Int
    var stride: Int
    var placement: AxisPlacement
    var target: Int

    /// Target positions that the drawn image covers.
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

  /// - Parameters:
  ///   - steps: how far a pixel is from the one to its left, and from the one above it, in units of the offsets.
  ///   - region: lies within the upright image.
  init(
    _ view: PixelView, steps: (pixel: Int, row: Int), orientation: ImageOrientation, region: PixelRect,
    target: (width: Int, height: Int), _ cropAndScale: ImageCropAndScale
  ) {
    let (reversedX, reversedY) = (orientation.reversesStoredX, orientation.reversesStoredY)
    let storedStepX = reversedX ? -steps.pixel : steps.pixel
    let storedStepY = reversedY ? -steps.row : steps.row
    let first = (reversedX ? (view.width - 1) * steps.pixel : 0) + (reversedY ? (view.height - 1) * steps.row : 0)
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

  /// Writes the taps of `columns`; `taps` has room for all of them.
  func fillColumns(_ taps: UnsafeMutableBufferPointer<Tap>) {
    for (i, position) in columns.enumerated() { taps.initializeElement(at: i, to: x.tap(position)) }
  }
}
