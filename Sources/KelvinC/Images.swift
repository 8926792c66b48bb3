// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CKelvin
import Glibc
import Kelvin
import KelvinImages

/// A decoded image in memory that callers read.
final class ImageHandle: HandleValue {
  static let noun = "an image"

  let orientation: ImageOrientation
  nonisolated(unsafe) let frame: kelvin_frame
  private let memory = CMemory()

  init(_ image: DecodedImage) {
    orientation = image.orientation
    frame = image.pixels.view(memory)
  }
}

@c @implementation
public func kelvin_image_read(
  _ path: UnsafePointer<CChar>?, _ image: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let result = try place(image, "image")
    result.pointee = try Handles.add(ImageHandle(try ImageCodec.decode(path: try KelvinC.path(path))))
  }
}

@c @implementation
public func kelvin_image_read_bytes(
  _ bytes: UnsafeRawPointer?, _ count: Int, _ image: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let result = try place(image, "image")
    let file = UnsafeRawBufferPointer(try elements(bytes?.assumingMemoryBound(to: UInt8.self), count, "bytes"))
    result.pointee = try Handles.add(ImageHandle(try ImageCodec.decode(file, name: "in memory")))
  }
}

@c @implementation
public func kelvin_image_frame(
  _ image: OpaquePointer?, _ frame: UnsafeMutablePointer<kelvin_frame>?, _ orientation: UnsafeMutablePointer<Int32>?,
  _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let image = try Handles.find(image, as: ImageHandle.self)
    try place(frame, "frame").pointee = image.frame
    orientation?.pointee = Int32(image.orientation.rawValue)
  }
}

@c @implementation
public func kelvin_image_release(_ image: OpaquePointer?) { Handles.release(image, as: ImageHandle.self) }

@c @implementation
public func kelvin_frame_encode(
  _ frame: UnsafePointer<kelvin_frame>?, _ encoding: UnsafePointer<CChar>?, _ quality: Int32,
  _ bytes: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ count: UnsafeMutablePointer<Int>?, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    guard let frame else { throw HandleError("'frame' is NULL: expected an image") }
    let (result, length) = (try place(bytes, "bytes"), try place(count, "count"))
    let pixels = try PixelBuffer(borrowed: frame.pointee)
    let file = try ImageCodec.encode(pixels, as: try ImageCodec.Encoding(try text(encoding, "encoding"), quality))
    guard let memory = malloc(max(file.count, 1)) else {
      throw ModelError(.generic, "there is no memory for a file of \(file.count) bytes")
    }
    memory.copyMemory(from: file, byteCount: file.count)
    result.pointee = memory.assumingMemoryBound(to: CChar.self)
    length.pointee = file.count
  }
}

extension ImageCodec.Encoding {
  /// - Throws: `ModelError` with code `parameters`.
  fileprivate init(_ name: String, _ quality: Int32) throws {
    switch (name, quality) {
    case ("png", 0): self = .png
    case ("jpeg", 0): self = .jpeg(quality: 90)
    case ("jpeg", 1...100): self = .jpeg(quality: Int(quality))
    case ("png", _): throw ModelError(.parameters, "expected a quality of 0 for png, got \(quality)")
    case ("jpeg", _): throw ModelError(.parameters, "expected a quality from 1 to 100, got \(quality)")
    default: throw ModelError(.parameters, "expected an encoding of png or jpeg, got '\(name)'")
    }
  }
}
