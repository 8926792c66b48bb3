extension PixelBuffer {
  /// Returns the upright image reduced by averaging the pixels that each result pixel covers, as ``PixelFormat/rgb8``.
  /// A grey image stays grey, and alpha is ignored.
  ///
  /// - Parameters:
  ///   - width: The width of the upright result; positive.
  ///   - height: The height of the upright result; positive.
  ///   - taps: The largest number of columns and of rows that are read per result pixel, evenly spaced.
  /// - Throws: ``ImageError`` (`tooLarge`, `invalidArgument`) where the size is not valid.
  package func reduced(
    width: Int, height: Int, orientation: ImageOrientation = .up, taps: Int = 16
  ) throws(ImageError) -> PixelBuffer {
    guard format.isBytes else {
      return try inBytes.reduced(width: width, height: height, orientation: orientation, taps: taps)
    }
    let (wide, high) = orientation.swapsAxes ? (height, width) : (width, height)
    let target: PixelFormat = format == .gray8 ? .gray8 : .rgb8
    guard let count = Self.byteCount(wide, high, target), count <= ImageCodec.maximumPixels * 4 else {
      throw ImageError(.tooLarge, "pixels", "\(width) x \(height) is not a size to reduce an image to")
    }
    let columns = Self.spans(self.width, wide, taps)
    let rows = Self.spans(self.height, high, taps)
    let channels = target.channelCount
    let pixels = withPixels { source in
      [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
        let offsets =
          target == .gray8 ? [0] : [format.colorOffsets.red, format.colorOffsets.green, format.colorOffsets.blue]
        for (y, row) in rows.enumerated() {
          for (x, column) in columns.enumerated() {
            for channel in 0..<channels {
              var (sum, samples) = (0, 0)
              for sourceY in row {
                let line = source.base + sourceY * source.bytesPerRow + offsets[channel]
                for sourceX in column { sum &+= Int(line[sourceX * format.channelCount]) }
                samples += column.count
              }
              bytes.initializeElement(at: (y * wide + x) * channels + channel, to: UInt8((sum + samples / 2) / samples))
            }
          }
        }
        initialized = count
      }
    }
    return try PixelBuffer(trusted: pixels, width: wide, height: high, format: target).oriented(orientation)
  }

  /// Returns the upright image, scaled down to fit into a square. Smaller images are not enlarged.
  ///
  /// - Parameter side: The side of the square; positive.
  /// - Throws: ``ImageError`` (`invalidArgument`) for a square without pixels.
  package func thumbnail(side: Int, orientation: ImageOrientation) throws(ImageError) -> PixelBuffer {
    let (wide, high) = orientation.swapsAxes ? (height, width) : (width, height)
    let longest = max(wide, high)
    guard longest > side else { return try reduced(width: wide, height: high, orientation: orientation) }
    return try reduced(
      width: max(1, (wide * side + longest / 2) / longest), height: max(1, (high * side + longest / 2) / longest),
      orientation: orientation, taps: 4)
  }

  /// Returns the positions to read for each of `count` parts of a side.
  private static func spans(_ side: Int, _ count: Int, _ taps: Int) -> [[Int]] {
    (0..<max(count, 0)).map { part in
      let first = part * side / count
      let end = max((part + 1) * side / count, first + 1)
      return Array(stride(from: first, to: end, by: max(1, (end - first + taps - 1) / taps)))
    }
  }
}
