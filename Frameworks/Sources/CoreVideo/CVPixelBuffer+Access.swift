/// The way in which a program uses a locked buffer.
public struct CVPixelBufferLockFlags: OptionSet, Sendable {
  public let rawValue: UInt64

  /// Creates flags from their bits.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The program only reads the pixels.
  public static let readOnly = CVPixelBufferLockFlags(rawValue: 1)
}

/// Does nothing: the memory of a buffer is always accessible.
@discardableResult
public func CVPixelBufferLockBaseAddress(
  _ pixelBuffer: CVPixelBuffer, _ lockFlags: CVPixelBufferLockFlags
) -> CVReturn { kCVReturnSuccess }

/// Does nothing: the memory of a buffer is always accessible.
@discardableResult
public func CVPixelBufferUnlockBaseAddress(
  _ pixelBuffer: CVPixelBuffer, _ unlockFlags: CVPixelBufferLockFlags
) -> CVReturn { kCVReturnSuccess }

/// Returns the width in pixels.
public func CVPixelBufferGetWidth(_ pixelBuffer: CVPixelBuffer) -> Int { pixelBuffer.width }

/// Returns the height in pixels.
public func CVPixelBufferGetHeight(_ pixelBuffer: CVPixelBuffer) -> Int { pixelBuffer.height }

/// Returns the pixel format, such as ``kCVPixelFormatType_32BGRA``.
public func CVPixelBufferGetPixelFormatType(_ pixelBuffer: CVPixelBuffer) -> OSType { pixelBuffer.type }

/// Returns the address of the first row; of the first plane, if the buffer has several. The address is valid as long as
/// the buffer.
public func CVPixelBufferGetBaseAddress(_ pixelBuffer: CVPixelBuffer) -> UnsafeMutableRawPointer? {
  pixelBuffer.memory.planes[0].base
}

/// Returns the distance between rows in bytes; of the first plane, if the buffer has several.
public func CVPixelBufferGetBytesPerRow(_ pixelBuffer: CVPixelBuffer) -> Int {
  pixelBuffer.memory.planes[0].bytesPerRow
}

/// Returns the size of the pixels in bytes, including gaps between rows.
public func CVPixelBufferGetDataSize(_ pixelBuffer: CVPixelBuffer) -> Int {
  pixelBuffer.memory.planes.reduce(0) { $0 + $1.bytesPerRow * $1.height }
}

/// Returns whether luma and chroma are in planes of their own.
public func CVPixelBufferIsPlanar(_ pixelBuffer: CVPixelBuffer) -> Bool { pixelBuffer.memory.planes.count > 1 }

/// Returns the number of planes; 0 for a buffer of interleaved pixels.
public func CVPixelBufferGetPlaneCount(_ pixelBuffer: CVPixelBuffer) -> Int {
  CVPixelBufferIsPlanar(pixelBuffer) ? pixelBuffer.memory.planes.count : 0
}

/// Returns the address of a plane's first row; nil if there is no such plane.
public func CVPixelBufferGetBaseAddressOfPlane(
  _ pixelBuffer: CVPixelBuffer, _ planeIndex: Int
) -> UnsafeMutableRawPointer? {
  plane(planeIndex, of: pixelBuffer)?.base
}

/// Returns the width of a plane in pixels; 0 if there is no such plane.
public func CVPixelBufferGetWidthOfPlane(_ pixelBuffer: CVPixelBuffer, _ planeIndex: Int) -> Int {
  plane(planeIndex, of: pixelBuffer)?.width ?? 0
}

/// Returns the number of rows of a plane; 0 if there is no such plane.
public func CVPixelBufferGetHeightOfPlane(_ pixelBuffer: CVPixelBuffer, _ planeIndex: Int) -> Int {
  plane(planeIndex, of: pixelBuffer)?.height ?? 0
}

/// Returns the distance between rows of a plane in bytes; 0 if there is no such plane.
public func CVPixelBufferGetBytesPerRowOfPlane(_ pixelBuffer: CVPixelBuffer, _ planeIndex: Int) -> Int {
  plane(planeIndex, of: pixelBuffer)?.bytesPerRow ?? 0
}

private func plane(_ index: Int, of buffer: CVPixelBuffer) -> PixelMemory.Plane? {
  buffer.memory.planes.indices.contains(index) ? buffer.memory.planes[index] : nil
}

/// Returns the attributes that the buffer was created with; nil if there were none.
public func CVPixelBufferCopyCreationAttributes(_ pixelBuffer: CVPixelBuffer) -> CFDictionary? {
  pixelBuffer.attributes
}
