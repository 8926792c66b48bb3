public import CoreGraphics
public import CoreImage
public import CoreVideo
import Foundation
public import ImageIO
import Kelvin
public import KelvinVision

/// A handler that performs requests on one image, which the first request decodes.
public final class ImageRequestHandler: Sendable {
  /// Kelvin's handler.
  public let kelvin: KelvinVision.ImageRequestHandler

  /// Creates a handler for an image file. Its EXIF orientation applies unless one is given.
  public init(_ url: URL, orientation: CGImagePropertyOrientation? = nil) {
    kelvin = KelvinVision.ImageRequestHandler(url, orientation: orientation?.kelvin)
  }

  /// Creates a handler for the bytes of an image file. Its EXIF orientation applies unless one is given.
  public init(_ data: Data, orientation: CGImagePropertyOrientation? = nil) {
    kelvin = KelvinVision.ImageRequestHandler(data, orientation: orientation?.kelvin)
  }

  /// Creates a handler for an image.
  public init(_ image: CGImage, orientation: CGImagePropertyOrientation? = nil) {
    kelvin = KelvinVision.ImageRequestHandler(image.kelvin, orientation: orientation?.kelvin ?? .up)
  }

  /// Creates a handler for an image of Core Image.
  public init(_ image: CIImage, orientation: CGImagePropertyOrientation? = nil) {
    kelvin = KelvinVision.ImageRequestHandler(image.rendered, orientation: orientation?.kelvin ?? .up)
  }

  /// Creates a handler for a buffer, whose pixels are not copied.
  public init(_ pixelBuffer: CVPixelBuffer, orientation: CGImagePropertyOrientation? = nil) {
    kelvin = KelvinVision.ImageRequestHandler(pixelBuffer.kelvin, orientation: orientation?.kelvin ?? .up)
  }

  /// Performs one request.
  ///
  /// - Throws: `VisionError`.
  public func perform<Request: KelvinVision.ImageProcessingRequest>(
    _ request: Request
  ) async throws -> Request.Result {
    try await kelvin.perform(request)
  }

  /// Performs requests of any types, one after the other, and returns a tuple of their results.
  ///
  /// - Throws: `VisionError` of the first request that fails.
  public func perform<each Request: KelvinVision.ImageProcessingRequest>(
    _ request: repeat each Request
  ) async throws -> (repeat (each Request).Result) {
    try await kelvin.perform(repeat each request)
  }

  /// Performs requests one after the other and yields each result as soon as it is available.
  public func performAll(_ requests: [any KelvinVision.ImageProcessingRequest]) -> AsyncStream<VisionResult> {
    kelvin.performAll(requests)
  }
}
