public import FoundationEssentials
public import Kelvin

/// An additional property of an image, as Vision's handlers take it.
///
/// No request uses these options, as no request of Vision with a Core ML model does. They exist for source
/// compatibility.
public struct VNImageOption: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  /// Creates an option from its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The metadata of the image's file. The orientation is read from the file or given to the handler instead.
  public static let properties = VNImageOption(rawValue: "VNImageOptionProperties")
  /// The lens's focal length and optical centre.
  public static let cameraIntrinsics = VNImageOption(rawValue: "VNImageOptionCameraIntrinsics")
  /// The rendering context for images that are not yet rendered.
  public static let ciContext = VNImageOption(rawValue: "VNImageOptionCIContext")
}

/// A handler that performs requests on one image and blocks until they finish. The image is decoded once, by the first
/// call of ``perform(_:)``.
public final class VNImageRequestHandler {
  private let image: SourceImage

  /// Creates a handler for an image file. Its EXIF orientation applies unless `orientation` is given.
  public init(url: URL, orientation: ImageOrientation? = nil, options: [VNImageOption: Any] = [:]) {
    image = SourceImage(url, orientation: orientation)
  }

  /// Creates a handler for the encoded bytes of an image file.
  public init(data: Data, orientation: ImageOrientation? = nil, options: [VNImageOption: Any] = [:]) {
    image = SourceImage(data, orientation: orientation)
  }

  /// Creates a handler for an image in memory.
  public init(pixelBuffer: PixelBuffer, orientation: ImageOrientation = .up, options: [VNImageOption: Any] = [:]) {
    image = SourceImage(pixelBuffer, orientation: orientation)
  }

  /// Performs requests one after the other. Each request's `results` are set and its completion handler is called.
  /// After a failure the remaining requests are still performed. Blocks the calling thread.
  ///
  /// - Throws: `VisionError` of the first request that failed.
  public func perform(_ requests: [VNRequest]) throws(VisionError) {
    let image = image.result
    var failure: VisionError?
    for request in requests {
      let error = request.answer(for: image)
      failure = failure ?? error
    }
    if let failure { throw failure }
  }
}
