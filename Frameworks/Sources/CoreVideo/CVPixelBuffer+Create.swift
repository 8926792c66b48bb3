import Kelvin

/// A function that releases the bytes given to ``CVPixelBufferCreateWithBytes(_:_:_:_:_:_:_:_:_:_:)``.
public typealias CVPixelBufferReleaseBytesCallback =
  @convention(c) (_ releaseRefCon: UnsafeMutableRawPointer?, _ baseAddress: UnsafeRawPointer?) -> Void
/// A function that releases the planes given to
/// ``CVPixelBufferCreateWithPlanarBytes(_:_:_:_:_:_:_:_:_:_:_:_:_:_:_:)``.
public typealias CVPixelBufferReleasePlanarBytesCallback =
  @convention(c) (
    _ releaseRefCon: UnsafeMutableRawPointer?, _ dataPtr: UnsafeRawPointer?, _ dataSize: Int, _ numberOfPlanes: Int,
    _ planeAddresses: UnsafeMutablePointer<UnsafeRawPointer?>?
  ) -> Void

/// Creates a black image.
///
/// - Returns: `kCVReturnInvalidPixelFormat` for a format that Kelvin does not have, `kCVReturnInvalidSize` for a side
///   that is not positive or too large.
@discardableResult
public func CVPixelBufferCreate(
  _ allocator: CFAllocator?, _ width: Int, _ height: Int, _ pixelFormatType: OSType,
  _ pixelBufferAttributes: CFDictionary?, _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
  guard let format = PixelFormat(pixelFormatType) else { return kCVReturnInvalidPixelFormat }
  guard let layout = PlanarLayout(format, width: width, height: height) else { return kCVReturnInvalidSize }
  do {
    pixelBufferOut.pointee = try CVBuffer(
      width: width, height: height, type: pixelFormatType, memory: layout.allocated(),
      attributes: pixelBufferAttributes)
    return kCVReturnSuccess
  } catch { return kCVReturnInvalidSize }
}

/// Creates an image over the caller's bytes, without a copy.
///
/// - Returns: `kCVReturnInvalidPixelFormat` for a format that Kelvin does not have or that has several planes,
///   `kCVReturnInvalidArgument` for an invalid size or rows that overlap. The release function is then not called.
@discardableResult
public func CVPixelBufferCreateWithBytes(
  _ allocator: CFAllocator?, _ width: Int, _ height: Int, _ pixelFormatType: OSType,
  _ baseAddress: UnsafeMutableRawPointer, _ bytesPerRow: Int, _ releaseCallback: CVPixelBufferReleaseBytesCallback?,
  _ releaseRefCon: UnsafeMutableRawPointer?, _ pixelBufferAttributes: CFDictionary?,
  _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
  guard let format = PixelFormat(pixelFormatType), format.planeCount == 1 else { return kCVReturnInvalidPixelFormat }
  let plane = PixelMemory.Plane(base: baseAddress, bytesPerRow: bytesPerRow, width: width, height: height)
  guard PlanarLayout(format, width: width, height: height)?.fits([plane]) == true else {
    return kCVReturnInvalidArgument
  }
  do {
    pixelBufferOut.pointee = try CVBuffer(
      width: width, height: height, type: pixelFormatType,
      memory: PixelMemory([plane]) { releaseCallback?(releaseRefCon, baseAddress) }, attributes: pixelBufferAttributes)
    return kCVReturnSuccess
  } catch { return kCVReturnInvalidArgument }
}

/// Creates an image over the caller's planes, without a copy.
///
/// - Returns: `kCVReturnInvalidPixelFormat` for a format that Kelvin does not have, `kCVReturnInvalidArgument` for
///   another number of planes, an invalid size, or rows that overlap. The release function is then not called.
@discardableResult
public func CVPixelBufferCreateWithPlanarBytes(
  _ allocator: CFAllocator?, _ width: Int, _ height: Int, _ pixelFormatType: OSType,
  _ dataPtr: UnsafeMutableRawPointer?, _ dataSize: Int, _ numberOfPlanes: Int,
  _ planeBaseAddress: UnsafeMutablePointer<UnsafeMutableRawPointer?>, _ planeWidth: UnsafeMutablePointer<Int>,
  _ planeHeight: UnsafeMutablePointer<Int>, _ planeBytesPerRow: UnsafeMutablePointer<Int>,
  _ releaseCallback: CVPixelBufferReleasePlanarBytesCallback?, _ releaseRefCon: UnsafeMutableRawPointer?,
  _ pixelBufferAttributes: CFDictionary?, _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
  guard let format = PixelFormat(pixelFormatType) else { return kCVReturnInvalidPixelFormat }
  let planes = (0..<max(numberOfPlanes, 0)).compactMap { index in
    planeBaseAddress[index].map {
      PixelMemory.Plane(
        base: $0, bytesPerRow: planeBytesPerRow[index], width: planeWidth[index], height: planeHeight[index])
    }
  }
  guard planes.count == numberOfPlanes, PlanarLayout(format, width: width, height: height)?.fits(planes) == true else {
    return kCVReturnInvalidArgument
  }
  let memory = PixelMemory(planes) {
    var addresses = planes.map { UnsafeRawPointer($0.base) as UnsafeRawPointer? }
    addresses.withUnsafeMutableBufferPointer {
      releaseCallback?(releaseRefCon, dataPtr, dataSize, numberOfPlanes, $0.baseAddress)
    }
  }
  do {
    pixelBufferOut.pointee = try CVBuffer(
      width: width, height: height, type: pixelFormatType, memory: memory, attributes: pixelBufferAttributes)
    return kCVReturnSuccess
  } catch { return kCVReturnInvalidArgument }
}

/// The sizes of an image's planes.
struct PlanarLayout {
  struct Plane {
    let width: Int
    let height: Int
    let rowByteCount: Int
    /// The distance between rows of memory that this library allocates.
    var bytesPerRow: Int { (rowByteCount + 63) / 64 * 64 }
  }

  let planes: [Plane]

  /// Creates the layout of an image; nil for a side that is not positive, or an image that does not fit memory.
  init?(_ format: PixelFormat, width: Int, height: Int) {
    let limit = 1 << 20
    guard width > 0, height > 0, width <= limit, height <= limit else { return nil }
    let first = Plane(width: width, height: height, rowByteCount: width * format.pixelByteCount)
    let (wide, high) = ((width + 1) / 2, (height + 1) / 2)
    planes = format.planeCount == 1 ? [first] : [first, Plane(width: wide, height: high, rowByteCount: 2 * wide)]
    guard planes.reduce(0, { $0 + $1.bytesPerRow * $1.height }) <= 1 << 36 else { return nil }
  }

  /// Returns whether given planes have the number of this layout, and rows that do not overlap.
  func fits(_ given: [PixelMemory.Plane]) -> Bool {
    given.count == planes.count
      && zip(given, planes).allSatisfy { $0.bytesPerRow >= $1.rowByteCount && $0.bytesPerRow <= 1 << 40 }
  }

  /// Returns zeroed memory for the planes.
  func allocated() -> PixelMemory {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 64)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    return over(memory) { memory.deallocate() }
  }

  var byteCount: Int { planes.reduce(0) { $0 + $1.bytesPerRow * $1.height } }

  /// Returns the planes one after the other in memory of ``byteCount`` bytes.
  func over(_ memory: UnsafeMutableRawPointer, release: @escaping () -> Void) -> PixelMemory {
    var offset = 0
    let parts = planes.map { plane in
      defer { offset += plane.bytesPerRow * plane.height }
      return PixelMemory.Plane(
        base: memory + offset, bytesPerRow: plane.bytesPerRow, width: plane.width, height: plane.height)
    }
    return PixelMemory(parts, release: release)
  }
}
