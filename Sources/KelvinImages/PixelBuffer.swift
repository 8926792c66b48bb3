/// A decoded image: rows of pixels from the top left, ours or in memory that someone lends.
public struct PixelBuffer: Hashable, Sendable {
  /// Pixels in a row.
  public let width: Int
  /// Rows.
  public let height: Int
  /// How pixels are stored.
  public let format: PixelFormat
  private let storage: Storage

  private enum Storage: Sendable {
    /// Planes behind one another, without gaps between rows.
    case own([UInt8])
    case lent(CallerPixels)
  }

  /// Takes over pixels.
  ///
  /// - Parameter bytes: rows without gaps; of a format with two planes all of the first, then all of the second.
  /// - Throws: ``ImageError`` (`invalidArgument`) when a side is not positive or `bytes` has another length than such an image.
  public init(width: Int, height: Int, format: PixelFormat, bytes: [UInt8]) throws(ImageError) {
    let count = try Self.checkedCount(width, height, format)
    guard bytes.count == count else {
      throw ImageError(
        .invalidArgument, "pixels", "\(width) x \(height) pixels of \(format) are \(count) bytes, got \(bytes.count)")
    }
    self.init(trusted: bytes, width: width, height: height, format: format)
  }

  /// An image in memory of the caller's, without a copy: a camera's or a video's frame.
  ///
  /// ```swift
  /// let frame = try PixelBuffer(
  ///   width: 1920, height: 1080, format: .yCbCr709Video,
  ///   planes: [.init(luma, bytesPerRow: 2048), .init(chroma, bytesPerRow: 2048)]) { release(surface) }
  /// ```
  ///
  /// - Parameters:
  ///   - width: pixels in a row.
  ///   - height: rows.
  ///   - format: how pixels are stored.
  ///   - planes: as many as the format has, luma before chroma. They stay as they are until `deallocator` is called.
  ///   - deallocator: called once nobody uses the image any more, on any thread.
  /// - Throws: ``ImageError`` (`invalidArgument`) for a size that no image has, another number of planes, or rows that
  ///   overlap. The deallocator is not called then.
  public init(
    width: Int, height: Int, format: PixelFormat, planes: [PixelPlane], deallocator: (@Sendable () -> Void)? = nil
  ) throws(ImageError) {
    _ = try Self.checkedCount(width, height, format)
    let sizes = format.planes(width: width, height: height)
    guard planes.count == sizes.count else {
      throw ImageError(
        .invalidArgument, "pixels", "an image of \(format) lies in \(sizes.count) planes, got \(planes.count)")
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
    storage = .lent(CallerPixels(planes, deallocator))
  }

  /// `bytes` is known to have the right length.
  init(trusted bytes: [UInt8], width: Int, height: Int, format: PixelFormat) {
    (self.width, self.height, self.format) = (width, height, format)
    storage = .own(bytes)
  }

  /// The rows without gaps; of a format with two planes all of the first, then all of the second. A copy where they are lent.
  public var bytes: [UInt8] {
    switch storage {
    case .own(let bytes): return bytes
    case .lent(let pixels):
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
    }
  }

  /// Bytes that an image of this size takes; nil when a side is not positive or there are too many for an `Int`.
  static func byteCount(_ width: Int, _ height: Int, _ format: PixelFormat) -> Int? {
    guard width > 0, height > 0 else { return nil }
    // No plane of chroma is larger than the pixels are many.
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

  /// The planes where they are lent, and stay as long as the image; nil where the image has its own.
  package var lentPlanes: [PixelPlane]? { if case .lent(let pixels) = storage { pixels.planes } else { nil } }

  /// Lends the pixels as a view that is valid only during `body`.
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
    case .lent(let pixels):
      return try withExtendedLifetime(pixels) { () throws(Failure) -> Result in
        try body(PixelView(width: width, height: height, format: format, planes: pixels.planes))
      }
    }
  }

  /// Whether both are of one size and format with the same pixels.
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

/// Rows of an image in memory.
public struct PixelPlane: @unchecked Sendable {
  /// The first row, at the top.
  public let base: UnsafeRawPointer
  /// Bytes from one row to the next.
  public let bytesPerRow: Int

  /// Rows from the top, `bytesPerRow` apart.
  public init(_ base: UnsafeRawPointer, bytesPerRow: Int) { (self.base, self.bytesPerRow) = (base, bytesPerRow) }
}

/// Pixels in memory of a caller's, which is told once the last image of them is gone.
private final class CallerPixels: Sendable {
  let planes: [PixelPlane]
  private let deallocator: (@Sendable () -> Void)?

  init(_ planes: [PixelPlane], _ deallocator: (@Sendable () -> Void)?) {
    (self.planes, self.deallocator) = (planes, deallocator)
  }

  deinit { deallocator?() }
}

/// Pixels that lie in memory owned by someone else, with rows any distance apart: a camera's or a video's frame.
package struct PixelView {
  package let width: Int
  package let height: Int
  package let format: PixelFormat
  /// The first pixel; of luma where chroma is apart.
  package let base: UnsafePointer<UInt8>
  package let bytesPerRow: Int
  /// Pairs of blue and red chroma, where they are apart.
  let chroma: PixelPlane?

  /// - Parameter planes: as many as the format has. Each must be readable to the end of its last row while the view is used.
  package init(width: Int, height: Int, format: PixelFormat, planes: [PixelPlane]) {
    let sizes = format.planes(width: width, height: height)
    precondition(width > 0 && height > 0 && planes.count == sizes.count)
    precondition(zip(planes, sizes).allSatisfy { $0.bytesPerRow >= $1.rowBytes })
    (self.width, self.height, self.format) = (width, height, format)
    base = planes[0].base.assumingMemoryBound(to: UInt8.self)
    bytesPerRow = planes[0].bytesPerRow
    chroma = planes.count > 1 ? planes[1] : nil
  }
}
