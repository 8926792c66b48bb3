public import FoundationEssentials
public import Kelvin

/// Something to know of an image besides its pixels, as Vision's handlers take it.
///
/// No request here asks for any of them, as no request of Vision's with a Core ML model does: they are taken so that programs
/// that pass them are the same here.
public struct VNImageOption: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  /// An option by its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// What an image's file says besides its pixels. Its orientation is read from the file, or given to the handler.
  public static let properties = VNImageOption(rawValue: "VNImageOptionProperties")
  /// The lens's focal length and centre.
  public static let cameraIntrinsics = VNImageOption(rawValue: "VNImageOptionCameraIntrinsics")
  /// What draws images that are only described.
  public static let ciContext = VNImageOption(rawValue: "VNImageOptionCIContext")
}

/// An image, and requests to be performed on it while the caller waits. The image is decoded once, with the first of them.
public final class VNImageRequestHandler {
  private let decode: () throws(ImageError) -> DecodedImage
  private var decoded: Result<DecodedImage, VisionError>?

  private init(decode: @escaping () throws(ImageError) -> DecodedImage) { self.decode = decode }

  /// An image file; its EXIF orientation holds unless `orientation` is given.
  public convenience init(url: URL, orientation: ImageOrientation? = nil, options: [VNImageOption: Any] = [:]) {
    self.init { () throws(ImageError) in try ImageFile.decode(path: url.path, orientation: orientation) }
  }

  /// Encoded bytes of an image file.
  public convenience init(data: Data, orientation: ImageOrientation? = nil, options: [VNImageOption: Any] = [:]) {
    self.init { () throws(ImageError) in try ImageFile.decode(Array(data), name: "data", orientation: orientation) }
  }

  /// An image in memory.
  public convenience init(
    pixelBuffer: PixelBuffer, orientation: ImageOrientation = .up, options: [VNImageOption: Any] = [:]
  ) {
    self.init { () throws(ImageError) in DecodedImage(pixels: pixelBuffer, orientation: orientation) }
  }

  /// Performs requests, one after the other; each has its `results` then, and its completion handler has been called. One
  /// that fails does not keep the others from being performed. Blocks the calling thread.
  ///
  /// - Throws: `VisionError` of the first request that failed.
  public func perform(_ requests: [VNRequest]) throws(VisionError) {
    let image = decoded ?? Result { () throws(VisionError) in
      do throws(ImageError) { return try decode() } catch { throw .image(error) }
    }
    decoded = image
    var failure: VisionError?
    for request in requests {
      let error = request.answer(for: image)
      failure = failure ?? error
    }
    if let failure { throw failure }
  }
}
