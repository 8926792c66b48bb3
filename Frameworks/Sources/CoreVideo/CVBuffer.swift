public import Kelvin

/// A buffer of Core Video. Only buffers of images exist.
public typealias CVImageBuffer = CVBuffer
/// An image in memory whose pixels a program can read and write.
public typealias CVPixelBuffer = CVBuffer

/// An image in memory: a class, whose holders all see changes of its pixels.
///
/// The functions `CVPixelBuffer…` create and use buffers. A prediction reads the pixels in place, so they must not be
/// written while it runs.
public final class CVBuffer: Hashable, @unchecked Sendable {
  let width: Int
  let height: Int
  let type: OSType
  let memory: PixelMemory
  /// The attributes that the buffer was created with.
  let attributes: CFDictionary?
  /// The attached values, by key. Access is not synchronized.
  var attachments: [String: (value: CFTypeRef, mode: CVAttachmentMode)] = [:]

  /// - Throws: `ImageError` (`invalidArgument`) for an invalid size or overlapping rows; the memory is then released.
  /// - Precondition: Kelvin has the format.
  init(width: Int, height: Int, type: OSType, memory: PixelMemory, attributes: CFDictionary?) throws(ImageError) {
    (self.width, self.height, self.type, self.memory) = (width, height, type, memory)
    self.attributes = attributes
    _ = try pixels()
  }

  /// Kelvin's image over the buffer's memory, without a copy. The memory lives as long as the image.
  ///
  /// A video frame is converted by the matrix that ``kCVImageBufferYCbCrMatrixKey`` names; by Rec. 601 if there is
  /// none.
  public var kelvin: PixelBuffer {
    do { return try pixels() } catch { preconditionFailure("a pixel buffer was checked when it was created: \(error)") }
  }

  private func pixels() throws(ImageError) -> PixelBuffer {
    guard let format = PixelFormat(type, isRec709: isRec709) else {
      preconditionFailure("a pixel buffer has a format of Kelvin")
    }
    return try PixelBuffer(
      width: width, height: height, format: format,
      planes: memory.planes.map { PixelPlane($0.base, bytesPerRow: $0.bytesPerRow) },
      deallocator: { [memory] in withExtendedLifetime(memory) {} })
  }

  private var isRec709: Bool {
    attachments["\(kCVImageBufferYCbCrMatrixKey)"]?.value as? CFString == kCVImageBufferYCbCrMatrix_ITU_R_709_2
  }

  public static func == (left: CVBuffer, right: CVBuffer) -> Bool { left === right }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The planes of a buffer. The memory is released with the last buffer or image that uses it.
final class PixelMemory: @unchecked Sendable {
  struct Plane {
    let base: UnsafeMutableRawPointer
    let bytesPerRow: Int
    let width: Int
    let height: Int
  }

  let planes: [Plane]
  private let release: () -> Void

  init(_ planes: [Plane], release: @escaping () -> Void) {
    self.planes = planes
    self.release = release
  }

  deinit { release() }
}
