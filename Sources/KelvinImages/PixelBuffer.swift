/// A decoded image: rows of pixels from the top left, in an array or in memory that the caller owns.
public struct PixelBuffer: Hashable, Sendable {
  /// The width in pixels.
  public let width: Int
  /// The height in pixels.
  public let height: Int
  /// The format of the pixels.
  public let format: PixelFormat
  private let storage: Storage

  private enum Storage: Sendable {
    /// An array with the planes one after another, without gaps between rows.
    case own([UInt8])
    case borrowed(CallerPixels)
    /// A smaller image at a place of this one. The bytes around it are zero.
    indirect case part(PixelBuffer, PixelRect)
  }

  /// Creates an image from an array.
  ///
  /// - Parameter bytes: The rows without gaps. For a format with two planes, all rows of the first plane come before
  ///   those of the second.
  /// - Throws: ``ImageError`` (`invalidArgument`) where a side is not positive or the length of `bytes` does not match.
  public init(width: Int, height: Int, format: PixelFormat, bytes: [UInt8]) throws(ImageError) {
    let count = try Self.checkedCount(width, height, format)
    guard bytes.count == count else {
      throw ImageError(
        .invalidArgument, "pixels", "\(width) x \(height) pixels of \(format) are \(count) bytes, got \(bytes.count)")
    }
    self.init(trusted: bytes, width: width, height: height, format: format)
  }

  /// Creates an image in the caller's memory without a copy, such as a frame of a camera or a video.
  ///
  /// ```swift
  /// let frame = try PixelBuffer(
  ///   width: 1920, height: 1080, format: .yCbCr709Video,
  ///   planes: [.init(luma, bytesPerRow: 2048), .init(chroma, bytesPerRow: 2048)]) { release(surface) }
  /// ```
  ///
  /// - Parameters:
  ///   - width: The width in pixels.
  ///   - height: The height in pixels.
  ///   - format: The format of the pixels.
  ///   - planes: The planes of the format, luma before chroma. The memory must not change until `deallocator` is
  ///     called.
  ///   - deallocator: Called when the image is no longer used, on any thread.
  /// - Throws: ``ImageError`` (`invalidArgument`) for an invalid size, a wrong number of planes, or overlapping rows.
  ///   The deallocator is then not called.
  public init(
    width: Int, height: Int, format: PixelFormat, planes: [PixelPlane], deallocator: (@Sendable () -> Void)? = nil
  ) throws(ImageError) {
    _ = try Self.checkedCount(width, height, format)
    let sizes = format.planes(width: width, height: height)
    guard planes.count == sizes.count else {
      throw ImageError(
        .invalidArgument, "pixels", "an image of \(format) has \(sizes.count) planes, got \(planes.count)")
    }
    for (plane, size) in zip(planes, sizes) {
      guard plane.bytesPerRow >= size.rowBytes, !plane.bytesPerRow.multipliedReportingOverflow(by: size.rows).overflow
      else {
        throw ImageError(
          .invalidArgument, "pixels",
          "\(width) pixels of \(format) are rows of \(size.rowBytes) bytes, got rows \(plane.bytesPerRow) bytes apart")
      }
    }
    (self.width, self.height, self.format) = (width, height, format)
    storage = .borrowed(CallerPixels(planes, deallocator))
  }

  /// Creates an image of which a part is stored. The bytes around the part are zero.
  ///
  /// - Parameters:
  ///   - part: The part, in a format with two planes.
  ///   - x: The distance of the part from the image's left edge in pixels; even.
  ///   - y: The distance of the part from the image's upper edge in pixels; even.
  package init(_ part: PixelBuffer, x: Int, y: Int, width: Int, height: Int) {
    precondition(part.format.isLumaApart && x >= 0 && y >= 0 && x & 1 == 0 && y & 1 == 0)
    precondition(part.width <= width - x && part.height <= height - y)
    (self.width, self.height, format) = (width, height, part.format)
    storage = .part(part, PixelRect(x: x, y: y, width: part.width, height: part.height))
  }

  /// Creates an image from an array whose length is known to be right.
  init(trusted bytes: [UInt8], width: Int, height: Int, format: PixelFormat) {
    (self.width, self.height, self.format) = (width, height, format)
    storage = .own(bytes)
  }

  /// The rows without gaps. For a format with two planes, all rows of the first plane come before those of the second.
  /// The bytes of an image in the caller's memory are copied.
  public var bytes: [UInt8] {
    switch storage {
    case .own(let bytes): return bytes
    case .borrowed(let pixels):
      return withExtendedLifetime(pixels) {
        var bytes: [UInt8] = []
        let sizes = format.planes(width: width, height: height)
        bytes.reserveCapacity(sizes.reduce(0) { $0 + $1.rowBytes * $1.rows })
        for (plane, size) in zip(pixels.planes, sizes) {
          for row in 0..<size.rows {
            bytes.append(
              contentsOf: UnsafeRawBufferPointer(start: plane.base + row * plane.bytesPerRow, count: size.rowBytes))
          }
        }
        return bytes
      }
    case .part(let image, let place):
      let sizes = format.planes(width: width, height: height)
      var bytes = [UInt8](repeating: 0, count: sizes.reduce(0) { $0 + $1.rowBytes * $1.rows })
      var (given, first) = (image.bytes[...], 0)
      let parts = format.planes(width: place.width, height: place.height)
      for ((size, part), y) in zip(zip(sizes, parts), [place.y, place.y / 2]) {
        for row in y..<y + part.rows {
          let start = first + row * size.rowBytes + place.x
          bytes.replaceSubrange(start..<start + part.rowBytes, with: given.prefix(part.rowBytes))
          given = given.dropFirst(part.rowBytes)
        }
        first += size.rowBytes * size.rows
      }
      return bytes
    }
  }

  /// Returns the number of bytes of an image; nil where a side is not positive or the number overflows an `Int`.
  static func byteCount(_ width: Int, _ height: Int, _ format: PixelFormat) -> Int? {
    guard width > 0, height > 0 else { return nil }
    // A plane of chroma has at most as many bytes as the image has pixels, apart from rounding.
    let (pixels, wide) = width.multipliedReportingOverflow(by: height)
    let (_, long) = pixels.multipliedReportingOverflow(by: format.bytesPerPixel + 4)
    guard !wide, !long, width < .max - 1, height < .max - 1 else { return nil }
    return format.planes(width: width, height: height).reduce(0) { $0 + $1.rowBytes * $1.rows }
  }

  private static func checkedCount(_ width: Int, _ height: Int, _ format: PixelFormat) throws(ImageError) -> Int {
    guard let count = byteCount(width, height, format) else {
      throw ImageError(.invalidArgument, "pixels", "\(width) x \(height) is not an image's size")
    }
    return count
  }

  /// The planes of an image in the caller's memory, which remain valid as long as the image; nil for an image in an
  /// array.
  package var borrowedPlanes: [PixelPlane]? { if case .borrowed(let pixels) = storage { pixels.planes } else { nil } }

  /// Calls `body` with a view of the pixels that is valid only during the call.
  package func withPixels<Result, Failure: Error>(
    _ body: (PixelView) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    switch storage {
    case .own(let bytes):
      return try bytes.withUnsafeBufferPointer { (bytes) throws(Failure) -> Result in
        guard let first = bytes.baseAddress else { preconditionFailure("a pixel buffer is never empty") }
        let base = UnsafeRawPointer(first)
        let sizes = format.planes(width: width, height: height)
        var planes = [PixelPlane(base, bytesPerRow: sizes[0].rowBytes)]
        if sizes.count == 2 {
          planes.append(PixelPlane(base + sizes[0].rowBytes * sizes[0].rows, bytesPerRow: sizes[1].rowBytes))
        }
        return try body(PixelView(width: width, height: height, format: format, planes: planes))
      }
    case .borrowed(let pixels):
      return try withExtendedLifetime(pixels) { () throws(Failure) -> Result in
        try body(PixelView(width: width, height: height, format: format, planes: pixels.planes))
      }
    case .part:
      return try PixelBuffer(trusted: bytes, width: width, height: height, format: format).withPixels(body)
    }
  }

  /// Calls `body` with a view of the pixels that is valid only during the call, and only for this sampler. An image of
  /// which the sampler reads no more than the stored part is not copied.
  package func withPixels<Result, Failure: Error>(
    for sampler: ImageSampler, _ orientation: ImageOrientation, _ body: (PixelView) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard case .part(let image, let place) = storage,
      let read = try? sampler.storedPart(width: width, height: height, orientation: orientation),
      read.x >= place.x, read.y >= place.y, read.x + read.width <= place.x + place.width,
      read.y + read.height <= place.y + place.height
    else { return try withPixels(body) }
    return try image.withPixels { (part) throws(Failure) -> Result in
      try body(PixelView(part, x: place.x, y: place.y, width: width, height: height))
    }
  }

  /// Returns whether both images have the same size, format and pixels.
  public static func == (left: PixelBuffer, right: PixelBuffer) -> Bool {
    left.width == right.width && left.height == right.height && left.format == right.format && left.bytes == right.bytes
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(width)
    hasher.combine(height)
    hasher.combine(format)
    hasher.combine(bytes)
  }
}

/// The rows of one plane of an image in memory.
public struct PixelPlane: @unchecked Sendable {
  /// The address of the first row, at the top.
  public let base: UnsafeRawPointer
  /// The distance between rows in bytes.
  public let bytesPerRow: Int

  /// Creates a plane from the address of its first row and the distance between rows.
  public init(_ base: UnsafeRawPointer, bytesPerRow: Int) { (self.base, self.bytesPerRow) = (base, bytesPerRow) }
}

/// Pixels in the caller's memory. The deallocator runs when the last image that uses them is released.
private final class CallerPixels: Sendable {
  let planes: [PixelPlane]
  private let deallocator: (@Sendable () -> Void)?

  init(_ planes: [PixelPlane], _ deallocator: (@Sendable () -> Void)?) {
    (self.planes, self.deallocator) = (planes, deallocator)
  }

  deinit { deallocator?() }
}

/// A view of pixels in memory with another owner and any distance between rows, such as a frame of a camera or a video.
package struct PixelView {
  package let width: Int
  package let height: Int
  package let format: PixelFormat
  /// The address of the first pixel; of the plane of luma where chroma is separate.
  package let base: UnsafePointer<UInt8>
  package let bytesPerRow: Int
  /// The plane of blue and red chroma pairs, where chroma is separate.
  let chroma: PixelPlane?

  /// - Parameter planes: The planes of the format. Each must be readable to the end of its last row while the view is
  ///   used.
  package init(width: Int, height: Int, format: PixelFormat, planes: [PixelPlane]) {
    let sizes = format.planes(width: width, height: height)
    precondition(width > 0 && height > 0 && planes.count == sizes.count)
    precondition(zip(planes, sizes).allSatisfy { $0.bytesPerRow >= $1.rowBytes })
    (self.width, self.height, self.format) = (width, height, format)
    base = planes[0].base.assumingMemoryBound(to: UInt8.self)
    bytesPerRow = planes[0].bytesPerRow
    chroma = planes.count > 1 ? planes[1] : nil
  }

  /// Creates a view of an image of which only a part is in memory, and may be read.
  fileprivate init(_ part: PixelView, x: Int, y: Int, width: Int, height: Int) {
    (self.width, self.height, format, bytesPerRow) = (width, height, part.format, part.bytesPerRow)
    base = part.base - (y * bytesPerRow + x)
    chroma = part.chroma.map { PixelPlane($0.base - (y / 2 * $0.bytesPerRow + x), bytesPerRow: $0.bytesPerRow) }
  }
}
