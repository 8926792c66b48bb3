public import CoreGraphics
public import CoreImage
public import CoreVideo
public import Foundation
public import ImageIO
public import KelvinVision

/// A key of options of an image. No request with a Core ML model uses them.
public struct VNImageOption: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  /// Creates a key from its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The metadata of the image's file.
  public static let properties = VNImageOption(rawValue: "VNImageOptionProperties")
  /// The lens's focal length and optical centre.
  public static let cameraIntrinsics = VNImageOption(rawValue: "VNImageOptionCameraIntrinsics")
  /// The context that draws images of Core Image.
  public static let ciContext = VNImageOption(rawValue: "VNImageOptionCIContext")
}

/// A handler that performs requests on one image and blocks until they finish. The image is decoded once, by the first
/// call of ``perform(_:)``.
open class VNImageRequestHandler: NSObject {
  /// Kelvin's handler.
  public let kelvin: KelvinVision.ImageRequestHandler

  /// Creates a handler from one of Kelvin's.
  public init(_ handler: KelvinVision.ImageRequestHandler) { kelvin = handler }

  /// Creates a handler for an image file, turned upright by its EXIF orientation.
  public convenience init(url imageURL: URL, options: [VNImageOption: Any] = [:]) { self.init(.init(imageURL)) }

  /// Creates a handler for an image file. The orientation replaces the file's own.
  public convenience init(
    url imageURL: URL, orientation: CGImagePropertyOrientation, options: [VNImageOption: Any] = [:]
  ) {
    self.init(.init(imageURL, orientation: orientation.kelvin))
  }

  /// Creates a handler for the bytes of an image file, turned upright by its EXIF orientation.
  public convenience init(data imageData: Data, options: [VNImageOption: Any] = [:]) { self.init(.init(imageData)) }

  /// Creates a handler for the bytes of an image file. The orientation replaces the file's own.
  public convenience init(
    data imageData: Data, orientation: CGImagePropertyOrientation, options: [VNImageOption: Any] = [:]
  ) {
    self.init(.init(imageData, orientation: orientation.kelvin))
  }

  /// Creates a handler for a buffer, whose pixels are not copied.
  public convenience init(cvPixelBuffer pixelBuffer: CVPixelBuffer, options: [VNImageOption: Any] = [:]) {
    self.init(.init(pixelBuffer.kelvin))
  }

  /// Creates a handler for a buffer of an orientation, whose pixels are not copied.
  public convenience init(
    cvPixelBuffer pixelBuffer: CVPixelBuffer, orientation: CGImagePropertyOrientation,
    options: [VNImageOption: Any] = [:]
  ) {
    self.init(.init(pixelBuffer.kelvin, orientation: orientation.kelvin))
  }

  /// Creates a handler for an image.
  public convenience init(cgImage image: CGImage, options: [VNImageOption: Any] = [:]) {
    self.init(.init(image.kelvin))
  }

  /// Creates a handler for an image of an orientation.
  public convenience init(
    cgImage image: CGImage, orientation: CGImagePropertyOrientation, options: [VNImageOption: Any] = [:]
  ) {
    self.init(.init(image.kelvin, orientation: orientation.kelvin))
  }

  /// Creates a handler for an image of Core Image.
  public convenience init(ciImage image: CIImage, options: [VNImageOption: Any] = [:]) {
    self.init(.init(image.rendered))
  }

  /// Creates a handler for an image of Core Image of an orientation.
  public convenience init(
    ciImage image: CIImage, orientation: CGImagePropertyOrientation, options: [VNImageOption: Any] = [:]
  ) {
    self.init(.init(image.rendered, orientation: orientation.kelvin))
  }

  /// Performs requests one after the other. Each request's `results` are set and its completion handler is called.
  /// After a failure the remaining requests are still performed. Blocks the calling thread.
  ///
  /// - Throws: `VNError` of the first request that failed.
  open func perform(_ requests: [VNRequest]) throws {
    var failure: VNError?
    for request in requests {
      let error = request.answer(for: kelvin)
      failure = failure ?? error
    }
    if let failure { throw failure }
  }
}
