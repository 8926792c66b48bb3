/// A decoded picture: rows of interleaved 8-bit sRGB pixels from the top left, without gaps between rows.
public struct PixelBuffer: Hashable, Sendable {
  /// Pixels in a row.
  public let width: Int
  /// Rows.
  public let height: Int
  /// How a pixel is stored.
  public let format: PixelFormat
  /// `width * height * format.channelCount` bytes.
  public let bytes: [UInt8]

  /// Takes over pixels.
  ///
  /// - Throws: ``ImageError`` (`invalidArgument`) when a side is not positive or `bytes` is not
  ///   `width * height * format.channelCount` long.
  public init(width: Int, height: Int, format: PixelFormat, bytes: [UInt8]) throws(ImageError) {
    guard let count = Self.byteCount(width, height, format) else {
      throw ImageError(.invalidArgument, "pixels", "\(width) x \(height) is not a picture's size")
    }
    guard bytes.count == count else {
      throw ImageError(
        .invalidArgument, "pixels",
        "\(width) x \(height) pixels of \(format.channelCount) bytes are \(count) bytes, got \(bytes.count)")
    }
    self.init(trusted: bytes, width: width, height: height, format: format)
  }

  /// `bytes` is known to have the right length.
  init(trusted bytes: [UInt8], width: Int, height: Int, format: PixelFormat) {
    self.width = width
    self.height = height
    self.format = format
    self.bytes = bytes
  }

  /// Bytes that a picture of this size takes; nil when a side is not positive or the product does not fit an `Int`.
  static func byteCount(_ width: Int, _ height: Int, _ format: PixelFormat) -> Int? {
    guard width > 0, height > 0 else { return nil }
    let (pixels, wide) = width.multipliedReportingOverflow(by: height)
    let (count, long) = pixels.multipliedReportingOverflow(by: format.channelCount)
    return wide || long ? nil : count
  }

  /// Lends the pixels as a view that is valid only during `body`.
  package func withPixels<Result, Failure: Error>(
    _ body: (PixelView) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try bytes.withUnsafeBufferPointer { (bytes) throws(Failure) -> Result in
      guard let base = bytes.baseAddress else { preconditionFailure("a pixel buffer is never empty") }
      return try body(
        PixelView(base: base, width: width, height: height, format: format, bytesPerRow: width * format.channelCount))
    }
  }
}

/// Pixels that lie in memory owned by someone else, with rows any distance apart: a camera's or a video's frame.
package struct PixelView {
  package let base: UnsafePointer<UInt8>
  package let width: Int
  package let height: Int
  package let format: PixelFormat
  package let bytesPerRow: Int

  /// `base` must be readable for `bytesPerRow * (height - 1) + width * format.channelCount` bytes while the view is
  /// used.
  package init(base: UnsafePointer<UInt8>, width: Int, height: Int, format: PixelFormat, bytesPerRow: Int) {
    precondition(width > 0 && height > 0 && bytesPerRow >= width * format.channelCount)
    self.base = base
    self.width = width
    self.height = height
    self.format = format
    self.bytesPerRow = bytesPerRow
  }
}

/// A rectangle of whole pixels, from the top left of the upright picture.
public struct PixelRect: Hashable, Sendable {
  /// Pixels left of it.
  public var x: Int
  /// Rows above it.
  public var y: Int
  /// Pixels in a row of it.
  public var width: Int
  /// Rows of it.
  public var height: Int

  /// A rectangle by its top left corner and its size, in pixels.
  public init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }
}
