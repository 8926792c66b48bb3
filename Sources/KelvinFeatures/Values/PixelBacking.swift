public import KelvinImages

/// An image in memory that a prediction writes to (``PredictionOptions/outputBackings``). The memory belongs to the
/// library or to the caller.
///
/// The image must not be read or written while a prediction writes to it.
public final class PixelBacking: @unchecked Sendable {
  /// The width, in pixels.
  public let width: Int
  /// The height, in pixels.
  public let height: Int
  /// The pixel format.
  public let format: PixelFormat
  /// The number of bytes between the beginnings of neighboring rows.
  public let bytesPerRow: Int
  /// The first row, which is the top row. Rows are ``bytesPerRow`` apart.
  public let dataPointer: UnsafeMutableRawPointer
  private let deallocator: () -> Void

  /// Creates a black image in its own memory, without gaps between rows.
  ///
  /// - Throws: `ModelError` with code `featureType` for an invalid size, or a format whose channels are not bytes.
  public convenience init(width: Int, height: Int, format: PixelFormat) throws(ModelError) {
    let bytesPerRow = width.multipliedReportingOverflow(by: format.channelCount)
    try Self.check(width, height, format, bytesPerRow.overflow ? -1 : bytesPerRow.partialValue)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytesPerRow.partialValue * height, alignment: 64)
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    guard let base = memory.baseAddress else { throw ModelError(.featureType, "an image has at least one pixel") }
    try self.init(
      dataPointer: base, width: width, height: height, format: format, bytesPerRow: bytesPerRow.partialValue,
      deallocator: { $0.deallocate() })
  }

  /// Creates an image over the caller's memory, without a copy.
  ///
  /// - Parameters:
  ///   - dataPointer: the first pixel. `bytesPerRow * height` bytes stay valid until `deallocator` is called.
  ///   - width: the width, in pixels.
  ///   - height: the height, in pixels.
  ///   - format: the pixel format.
  ///   - bytesPerRow: the number of bytes between the beginnings of neighboring rows.
  ///   - deallocator: called with the pointer when the image is released.
  /// - Throws: `ModelError` with code `featureType` for an invalid size, a format whose channels are not bytes, or rows
  ///   that overlap. The deallocator is then not called.
  public init(
    dataPointer: UnsafeMutableRawPointer, width: Int, height: Int, format: PixelFormat, bytesPerRow: Int,
    deallocator: (@Sendable (UnsafeMutableRawPointer) -> Void)? = nil
  ) throws(ModelError) {
    try Self.check(width, height, format, bytesPerRow)
    self.dataPointer = dataPointer
    self.width = width
    self.height = height
    self.format = format
    self.bytesPerRow = bytesPerRow
    self.deallocator = { deallocator?(dataPointer) }
  }

  deinit { deallocator() }

  private static func check(
    _ width: Int, _ height: Int, _ format: PixelFormat, _ bytesPerRow: Int
  ) throws(ModelError) {
    guard format.isBytes else {
      throw ModelError(.featureType, "a prediction writes images of 8 bits a channel, not of \(format)")
    }
    let row = width.multipliedReportingOverflow(by: format.channelCount)
    let total = bytesPerRow.multipliedReportingOverflow(by: height)
    guard width > 0, height > 0, !row.overflow, bytesPerRow >= row.partialValue, !total.overflow,
      total.partialValue <= 1 << 40
    else {
      throw ModelError(
        .featureType,
        "\(width)x\(height) pixels of \(format.channelCount) bytes in rows of \(bytesPerRow) are not an image")
    }
  }

  /// A copy of the image.
  public var pixelBuffer: PixelBuffer? {
    let row = width * format.channelCount
    var bytes: [UInt8] = []
    bytes.reserveCapacity(row * height)
    withExtendedLifetime(self) {
      for y in 0..<height {
        bytes.append(contentsOf: UnsafeRawBufferPointer(start: dataPointer + y * bytesPerRow, count: row))
      }
    }
    return try? PixelBuffer(width: width, height: height, format: format, bytes: bytes)
  }

  /// Writes planar values, rounded half up and clamped to 0…255. NaN becomes 0, and alpha becomes 255.
  ///
  /// - Precondition: `planar` contains `order.count * height * width` elements.
  package func write(_ planar: [Float], order: ChannelOrder) {
    let pixels = width * height
    precondition(planar.count == order.count * pixels)
    let offsets = format.colorOffsets
    let channels =
      switch order {
      case .grayscale: [0]
      case .rgb: [offsets.red, offsets.green, offsets.blue]
      case .bgr: [offsets.blue, offsets.green, offsets.red]
      }
    let step = format.channelCount
    withExtendedLifetime(self) {
      for y in 0..<height {
        let row = (dataPointer + y * bytesPerRow).assumingMemoryBound(to: UInt8.self)
        for x in 0..<width {
          for (channel, offset) in channels.enumerated() {
            let value = planar[channel * pixels + y * width + x]
            row[x * step + offset] = UInt8(((value > 0 ? min(value, 255) : 0) + 0.5).rounded(.down))
          }
          if let alpha = format.alphaOffset { row[x * step + alpha] = 255 }
        }
      }
    }
  }
}

extension PixelBacking: Hashable {
  /// Returns whether both are the same object.
  public static func == (left: PixelBacking, right: PixelBacking) -> Bool { left === right }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
