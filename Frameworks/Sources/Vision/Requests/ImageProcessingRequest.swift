public import CoreGraphics
public import CoreImage
public import CoreVideo
import Foundation
public import ImageIO
import Kelvin
public import KelvinVision

/// A request that analyses an image, with the image types of Apple's modules.
public protocol ImageProcessingRequest<Result>: KelvinVision.ImageProcessingRequest {}

extension KelvinVision.CoreMLRequest: ImageProcessingRequest {}
extension KelvinVision.ClassifyImageRequest: ImageProcessingRequest {}
extension KelvinVision.ClassificationRequest: ImageProcessingRequest {}
extension KelvinVision.DetectionRequest: ImageProcessingRequest {}
extension KelvinVision.SegmentationRequest: ImageProcessingRequest {}
extension KelvinVision.PoseRequest: ImageProcessingRequest {}

extension ImageProcessingRequest {
  /// Performs the request on an image file. Its EXIF orientation applies unless one is given.
  ///
  /// - Throws: `VisionError`.
  public func perform(on url: URL, orientation: CGImagePropertyOrientation? = nil) async throws -> Result {
    try await KelvinVision.ImageRequestHandler(url, orientation: orientation?.kelvin).perform(self)
  }

  /// Performs the request on the bytes of an image file. Its EXIF orientation applies unless one is given.
  ///
  /// - Throws: `VisionError`.
  public func perform(on data: Data, orientation: CGImagePropertyOrientation? = nil) async throws -> Result {
    try await KelvinVision.ImageRequestHandler(data, orientation: orientation?.kelvin).perform(self)
  }

  /// Performs the request on an image.
  ///
  /// - Throws: `VisionError`.
  public func perform(on image: CGImage, orientation: CGImagePropertyOrientation? = nil) async throws -> Result {
    try await perform(on: image.kelvin, orientation: orientation?.kelvin ?? .up)
  }

  /// Performs the request on an image of Core Image.
  ///
  /// - Throws: `VisionError`.
  public func perform(on image: CIImage, orientation: CGImagePropertyOrientation? = nil) async throws -> Result {
    try await perform(on: image.rendered, orientation: orientation?.kelvin ?? .up)
  }

  /// Performs the request on a buffer, whose pixels are not copied.
  ///
  /// - Throws: `VisionError`.
  public func perform(
    on pixelBuffer: CVPixelBuffer, orientation: CGImagePropertyOrientation? = nil
  ) async throws -> Result {
    try await perform(on: pixelBuffer.kelvin, orientation: orientation?.kelvin ?? .up)
  }
}
