/// A conversion of images to the tensor of a model's image input. Orientation, cropping, scaling, channel order and
/// normalization are applied in one pass, without an intermediate image.
///
/// Every sample is first rounded to 8 bits (half up), as in the pixel buffer that Core ML passes to a model. It is then
/// normalized per channel: `y = scale * sample + bias`. The sample is zero where the image does not cover the target,
/// so the tensor holds the bias there. Alpha is ignored.
package struct ImageSampler: Hashable, Sendable {
  /// The order of a tensor's elements in memory.
  package enum Arrangement: Hashable, Sendable {
    /// Channel, row, column (CHW).
    case planar
    /// Row, column, channel (HWC).
    case interleaved
  }

  package var width: Int
  package var height: Int
  package var order: ChannelOrder
  package var arrangement: Arrangement
  package var cropAndScale: ImageCropAndScale
  /// The part of the upright image to read; nil for all of it.
  package var regionOfInterest: PixelRect?

  /// Creates a sampler.
  ///
  /// - Parameters:
  ///   - width: The width of the target; positive.
  ///   - height: The height of the target; positive.
  package init(
    width: Int, height: Int, order: ChannelOrder = .rgb, arrangement: Arrangement = .planar,
    cropAndScale: ImageCropAndScale = .scaleToFill, regionOfInterest: PixelRect? = nil
  ) {
    precondition(width > 0 && height > 0)
    self.width = width
    self.height = height
    self.order = order
    self.arrangement = arrangement
    self.cropAndScale = cropAndScale
    self.regionOfInterest = regionOfInterest
  }

  /// The number of elements of a tensor: `width * height * order.count`.
  package var elementCount: Int { width * height * order.count }

  /// Writes `scale[c] * sample + bias[c]` for each channel c in the tensor's order.
  ///
  /// - Parameters:
  ///   - scale: One factor per channel (`order.count` of them), or one for all.
  ///   - bias: One offset per channel, or one for all.
  ///   - tensor: Exactly `elementCount` elements, all of which are written.
  /// - Throws: ``ImageError`` (`invalidArgument`) where the region is outside the upright image.
  package func sample(
    _ view: PixelView, orientation: ImageOrientation = .up, scale: [Float] = [1], bias: [Float] = [0],
    into tensor: UnsafeMutableBufferPointer<Float>
  ) throws(ImageError) {
    func channels(_ values: [Float]) -> (Float, Float, Float) {
      precondition(values.count == 1 || values.count == order.count, "one value, or one a channel")
      return values.count == 3 ? (values[0], values[1], values[2]) : (values[0], values[0], values[0])
    }
    let (s0, s1, s2) = channels(scale)
    let (b0, b1, b2) = channels(bias)
    try fill(view, orientation, tensor) { channel, value in
      switch channel {
      case 0: Float(value) * s0 + b0
      case 1: Float(value) * s1 + b1
      default: Float(value) * s2 + b2
      }
    }
  }

  /// Writes the 8-bit samples without normalization.
  ///
  /// - Parameter tensor: Exactly `elementCount` elements, all of which are written.
  /// - Throws: ``ImageError`` (`invalidArgument`) where the region is outside the upright image.
  package func sample(
    _ view: PixelView, orientation: ImageOrientation = .up, into tensor: UnsafeMutableBufferPointer<UInt8>
  ) throws(ImageError) {
    try fill(view, orientation, tensor) { _, value in UInt8(truncatingIfNeeded: value) }
  }

  /// Writes `scale * sample + bias` for floating-point samples, which are neither rounded nor clamped. The bias is
  /// written where the image does not cover the target. The tensor has one channel.
  ///
  /// - Parameter numbers: The image's samples, row by row (`PixelView.grayNumbers`).
  /// - Throws: ``ImageError`` (`invalidArgument`) where the region is outside the upright image.
  package func sample(
    numbers: [Float], of view: PixelView, orientation: ImageOrientation = .up, scale: Float, bias: Float,
    into tensor: UnsafeMutableBufferPointer<Float>
  ) throws(ImageError) {
    precondition(order == .grayscale && tensor.count == elementCount && numbers.count == view.width * view.height)
    let grid = try grid((view.width, view.height), steps: (1, view.width), orientation)
    tensor.update(repeating: bias)
    withUnsafeTemporaryAllocation(of: Tap.self, capacity: grid.columns.count) { columns in
      grid.fillColumns(columns)
      for y in grid.rows {
        let row = grid.row(y)
        for (x, column) in zip(grid.columns, columns) {
          func along(_ start: Int) -> Float {
            between(numbers[start + column.near], numbers[start + column.far], column.weight)
          }
          let sample = between(along(grid.origin + row.near), along(grid.origin + row.far), row.weight)
          tensor[y * width + x] = sample * scale + bias
        }
      }
    }
  }

  /// Returns the part of a stored image, in stored pixels, that sampling reads. Its edges are at even positions or at
  /// those of the image, so it has the whole chroma of its pixels.
  ///
  /// - Parameters:
  ///   - width: The width of the stored image in pixels; positive.
  ///   - height: The height of the stored image in pixels; positive.
  /// - Throws: ``ImageError`` (`invalidArgument`) where the region is outside the upright image.
  package func storedPart(
    width: Int, height: Int, orientation: ImageOrientation
  ) throws(ImageError) -> PixelRect {
    // With steps along one axis only, offsets are positions on this axis.
    let x = try grid((width, height), steps: (1, 0), orientation).extent
    let y = try grid((width, height), steps: (0, 1), orientation).extent
    let (left, top) = (x.lowerBound & ~1, y.lowerBound & ~1)
    return PixelRect(
      x: left, y: top, width: min(x.upperBound | 1, width - 1) + 1 - left,
      height: min(y.upperBound | 1, height - 1) + 1 - top)
  }

  private func grid(
    _ stored: (width: Int, height: Int), steps: (pixel: Int, row: Int), _ orientation: ImageOrientation
  ) throws(ImageError) -> SamplingGrid {
    let turned = cropAndScale.rotates ? orientation.turnedCounterClockwise : orientation
    return SamplingGrid(
      stored, steps: steps, orientation: turned, region: try checkedRegion(stored, orientation),
      target: (width, height), cropAndScale)
  }

  @inline(__always)
  private func fill<Element>(
    _ view: PixelView, _ orientation: ImageOrientation, _ tensor: UnsafeMutableBufferPointer<Element>,
    _ convert: (_ channel: Int, _ sample: Int) -> Element
  ) throws(ImageError) {
    precondition(tensor.count == elementCount, "\(elementCount) elements are needed, got \(tensor.count)")
    guard let base = tensor.baseAddress else { return }
    let reader = view.format.isBytes ? nil : PixelReader(view)
    let steps = reader?.steps ?? (view.format.bytesPerPixel, view.bytesPerRow)
    let grid = try grid((view.width, view.height), steps: steps, orientation)
    if grid.columns.count < width || grid.rows.count < height {
      fillBars(base, convert)
    }
    withUnsafeTemporaryAllocation(of: Tap.self, capacity: grid.columns.count) { columns in
      grid.fillColumns(columns)
      if let chroma = reader?.chroma {
        fillChroma(chroma, grid, UnsafeBufferPointer(columns), base, convert)
      } else if let reader {
        fillReading(reader, grid, UnsafeBufferPointer(columns), base, convert)
      } else if order == .grayscale {
        fillLuma(view, grid, UnsafeBufferPointer(columns), base, convert)
      } else {
        fillColor(view, grid, UnsafeBufferPointer(columns), base, convert)
      }
    }
  }

  /// Returns the region in the coordinates of the sampled image, after the rotation of `cropAndScale`.
  private func checkedRegion(
    _ stored: (width: Int, height: Int), _ orientation: ImageOrientation
  ) throws(ImageError) -> PixelRect {
    let (wide, high) = orientation.swapsAxes ? (stored.height, stored.width) : stored
    let region = regionOfInterest ?? PixelRect(x: 0, y: 0, width: wide, height: high)
    guard region.x >= 0, region.y >= 0, region.width > 0, region.height > 0,
      region.width <= wide, region.x <= wide - region.width,
      region.height <= high, region.y <= high - region.height
    else {
      throw ImageError(
        .invalidArgument, "region of interest",
        "\(region.width) x \(region.height) at (\(region.x), \(region.y)) is not within \(wide) x \(high) pixels")
    }
    guard cropAndScale.rotates else { return region }
    return PixelRect(x: region.y, y: wide - region.x - region.width, width: region.height, height: region.width)
  }

  private var strides: (pixel: Int, channel: Int) {
    arrangement == .planar ? (1, width * height) : (order.count, 1)
  }

  @inline(__always)
  private func fillBars<Element>(_ base: UnsafeMutablePointer<Element>, _ convert: (Int, Int) -> Element) {
    let strides = strides
    for channel in 0..<order.count {
      let zero = convert(channel, 0)
      for pixel in 0..<width * height { base[pixel * strides.pixel + channel * strides.channel] = zero }
    }
  }

  @inline(__always)
  private func fillColor<Element>(
    _ view: PixelView, _ grid: SamplingGrid, _ columns: UnsafeBufferPointer<Tap>,
    _ base: UnsafeMutablePointer<Element>, _ convert: (Int, Int) -> Element
  ) {
    let offsets = view.format.colorOffsets
    let (c0, c2) = order == .bgr ? (offsets.blue, offsets.red) : (offsets.red, offsets.blue)
    let c1 = offsets.green
    let strides = strides
    let origin = view.base + grid.origin
    for y in grid.rows {
      let row = grid.row(y)
      let (top, bottom) = (origin + row.near, origin + row.far)
      var out = base + (y * width + grid.columns.lowerBound) * strides.pixel
      for column in columns {
        let quad = Quad(top, bottom, column, row.weight)
        out[0] = convert(0, quad.sample(c0))
        out[strides.channel] = convert(1, quad.sample(c1))
        out[2 &* strides.channel] = convert(2, quad.sample(c2))
        out += strides.pixel
      }
    }
  }

  @inline(__always)
  private func fillLuma<Element>(
    _ view: PixelView, _ grid: SamplingGrid, _ columns: UnsafeBufferPointer<Tap>,
    _ base: UnsafeMutablePointer<Element>, _ convert: (Int, Int) -> Element
  ) {
    let (red, green, blue) = view.format.colorOffsets
    let origin = view.base + grid.origin
    for y in grid.rows {
      let row = grid.row(y)
      let (top, bottom) = (origin + row.near, origin + row.far)
      var out = base + (y * width + grid.columns.lowerBound)
      for column in columns {
        let quad = Quad(top, bottom, column, row.weight)
        out.pointee = convert(0, luma(quad.sample(red), quad.sample(green), quad.sample(blue)))
        out += 1
      }
    }
  }

  /// Samples an image of luma and chroma. The result equals that for its `inBytes`.
  @inline(__always)
  private func fillChroma<Element>(
    _ reader: ChromaReader, _ grid: SamplingGrid, _ columns: UnsafeBufferPointer<Tap>,
    _ base: UnsafeMutablePointer<Element>, _ convert: (Int, Int) -> Element
  ) {
    let (count, strides) = (columns.count, strides)
    var lines = ChromaSampling(reader, origin: grid.origin, columns: columns)
    for y in grid.rows {
      lines.read(grid.row(y))
      let out = base + (y * width + grid.columns.lowerBound) * strides.pixel
      lines.samples.withUnsafeBufferPointer { samples in
        @inline(__always)
        func write(_ channel: Int, _ plane: Int) {
          let (out, first) = (out + channel * strides.channel, plane * count)
          if strides.pixel == 1 {
            for x in 0..<count { out[x] = convert(channel, Int(samples[first &+ x])) }
          } else {
            for x in 0..<count { out[x &* strides.pixel] = convert(channel, Int(samples[first &+ x])) }
          }
        }
        if order == .grayscale {
          for x in 0..<count {
            out[x] = convert(
              0, luma(Int(samples[x]), Int(samples[count &+ x]), Int(samples[2 &* count &+ x])))
          }
        } else {
          write(0, order == .bgr ? 2 : 0)
          write(1, 1)
          write(2, order == .bgr ? 0 : 2)
        }
      }
    }
  }

  /// Samples an image whose format is not byte-based. The result equals that for its `inBytes`, but only the required
  /// pixels are converted.
  @inline(__always)
  private func fillReading<Element>(
    _ reader: PixelReader, _ grid: SamplingGrid, _ columns: UnsafeBufferPointer<Tap>,
    _ base: UnsafeMutablePointer<Element>, _ convert: (Int, Int) -> Element
  ) {
    let strides = strides
    for y in grid.rows {
      let row = grid.row(y)
      let (top, bottom) = (grid.origin + row.near, grid.origin + row.far)
      var out = base + (y * width + grid.columns.lowerBound) * strides.pixel
      for column in columns {
        let (a, b) = (reader.rgb(at: top + column.near), reader.rgb(at: top + column.far))
        let (c, d) = (reader.rgb(at: bottom + column.near), reader.rgb(at: bottom + column.far))
        let red = bilinear(a.red, b.red, c.red, d.red, column.weight, row.weight)
        let green = bilinear(a.green, b.green, c.green, d.green, column.weight, row.weight)
        let blue = bilinear(a.blue, b.blue, c.blue, d.blue, column.weight, row.weight)
        if order == .grayscale {
          out.pointee = convert(0, luma(red, green, blue))
        } else {
          out[0] = convert(0, order == .bgr ? blue : red)
          out[strides.channel] = convert(1, green)
          out[2 &* strides.channel] = convert(2, order == .bgr ? red : blue)
        }
        out += strides.pixel
      }
    }
  }
}

/// Interpolates between two numbers. A number with weight zero is ignored, because it may be infinite.
private func between(_ near: Float, _ far: Float, _ weight: Int) -> Float {
  guard weight > 0 else { return near }
  let share = Float(weight) / Float(1 << Tap.weightBits)
  return share < 1 ? near * (1 - share) + far * share : far
}

/// Interpolates between two pixels above and two below, in exact integer arithmetic, rounded half up.
@inline(__always)
private func bilinear(_ a: Int, _ b: Int, _ c: Int, _ d: Int, _ across: Int, _ down: Int) -> Int {
  let bits = Tap.weightBits
  let top = a &<< bits &+ (b &- a) &* across
  let bottom = c &<< bits &+ (d &- c) &* across
  return (top &<< bits &+ (bottom &- top) &* down &+ (1 &<< (2 &* bits &- 1))) &>> (2 &* bits)
}

/// The four stored pixels around one sample.
private struct Quad {
  var topNear: UnsafePointer<UInt8>
  var topFar: UnsafePointer<UInt8>
  var bottomNear: UnsafePointer<UInt8>
  var bottomFar: UnsafePointer<UInt8>
  var across: Int
  var down: Int

  @inline(__always)
  init(_ top: UnsafePointer<UInt8>, _ bottom: UnsafePointer<UInt8>, _ column: Tap, _ down: Int) {
    topNear = top + column.near
    topFar = top + column.far
    bottomNear = bottom + column.near
    bottomFar = bottom + column.far
    across = column.weight
    self.down = down
  }

  @inline(__always)
  func sample(_ channel: Int) -> Int {
    bilinear(
      Int(topNear[channel]), Int(topFar[channel]), Int(bottomNear[channel]), Int(bottomFar[channel]), across, down)
  }
}
