/// A number of pixels.
public typealias vImagePixelCount = UInt
/// The result of a function; 0 for success.
public typealias vImage_Error = Int
/// Options of a function.
public typealias vImage_Flags = UInt32
/// A value of a plane of bytes.
public typealias Pixel_8 = UInt8
/// A value of a plane of floating-point numbers.
public typealias Pixel_F = Float

/// The function succeeded.
public let kvImageNoError: vImage_Error = 0
/// The source is smaller than the destination needs.
public let kvImageRoiLargerThanInputBuffer: vImage_Error = -21766
/// A size or an address is not valid.
public let kvImageInvalidParameter: vImage_Error = -21773
/// No options.
public let kvImageNoFlags: vImage_Flags = 0

/// An image in the caller's memory.
public struct vImage_Buffer {
  /// The first row.
  public var data: UnsafeMutableRawPointer!
  /// The number of rows.
  public var height: vImagePixelCount
  /// The number of pixels of a row.
  public var width: vImagePixelCount
  /// The distance between rows in bytes.
  public var rowBytes: Int

  /// Creates a description of an image.
  public init(data: UnsafeMutableRawPointer!, height: vImagePixelCount, width: vImagePixelCount, rowBytes: Int) {
    (self.data, self.height, self.width, self.rowBytes) = (data, height, width, rowBytes)
  }

  /// Creates a description of no image.
  public init() { self.init(data: nil, height: 0, width: 0, rowBytes: 0) }
}

/// Writes the bytes of each pixel in another order: `permuteMap[i]` is the source of byte `i`.
@discardableResult
public func vImagePermuteChannels_ARGB8888(
  _ source: UnsafePointer<vImage_Buffer>, _ destination: UnsafePointer<vImage_Buffer>,
  _ permuteMap: UnsafePointer<UInt8>, _ flags: vImage_Flags
) -> vImage_Error {
  let order = (0..<4).map { Int(permuteMap[$0]) }
  guard order.allSatisfy({ $0 < 4 }) else { return kvImageInvalidParameter }
  return rows(source.pointee, destination.pointee) { from, to, width in
    for x in 0..<width {
      let pixel = (0..<4).map { from.load(fromByteOffset: 4 * x + order[$0], as: UInt8.self) }
      for channel in 0..<4 { to.storeBytes(of: pixel[channel], toByteOffset: 4 * x + channel, as: UInt8.self) }
    }
  }
}

/// Converts bytes to numbers: 0…255 to `minFloat…maxFloat`.
@discardableResult
public func vImageConvert_Planar8toPlanarF(
  _ source: UnsafePointer<vImage_Buffer>, _ destination: UnsafePointer<vImage_Buffer>, _ maxFloat: Pixel_F,
  _ minFloat: Pixel_F, _ flags: vImage_Flags
) -> vImage_Error {
  let scale = (maxFloat - minFloat) / 255
  return rows(source.pointee, destination.pointee) { from, to, width in
    for x in 0..<width {
      let value = Float(from.load(fromByteOffset: x, as: UInt8.self)) * scale + minFloat
      to.storeBytes(of: value, toByteOffset: 4 * x, as: Float.self)
    }
  }
}

/// Converts numbers to bytes: `minFloat…maxFloat` to 0…255, rounded and limited.
@discardableResult
public func vImageConvert_PlanarFtoPlanar8(
  _ source: UnsafePointer<vImage_Buffer>, _ destination: UnsafePointer<vImage_Buffer>, _ maxFloat: Pixel_F,
  _ minFloat: Pixel_F, _ flags: vImage_Flags
) -> vImage_Error {
  rows(source.pointee, destination.pointee) { from, to, width in
    for x in 0..<width {
      let value = (from.load(fromByteOffset: 4 * x, as: Float.self) - minFloat) * 255 / (maxFloat - minFloat)
      to.storeBytes(
        of: UInt8((value > 0 ? min(value, 255) : 0).rounded()), toByteOffset: x, as: UInt8.self)
    }
  }
}

/// Calls `body` with each row of the destination and the same row of the source.
private func rows(
  _ source: vImage_Buffer, _ destination: vImage_Buffer,
  _ body: (_ from: UnsafeRawPointer, _ to: UnsafeMutableRawPointer, _ width: Int) -> Void
) -> vImage_Error {
  guard let from = source.data, let to = destination.data else { return kvImageInvalidParameter }
  guard source.width >= destination.width, source.height >= destination.height else {
    return kvImageRoiLargerThanInputBuffer
  }
  for y in 0..<Int(destination.height) {
    body(UnsafeRawPointer(from + y * source.rowBytes), to + y * destination.rowBytes, Int(destination.width))
  }
  return kvImageNoError
}
