public import CoreGraphics
public import CoreImage
public import CoreVideo
public import Foundation
public import ImageIO

/// A handler that performs requests on one image after another, and blocks until they finish. It keeps nothing between
/// images.
open class VNSequenceRequestHandler: NSObject {
  /// Creates a handler.
  public override init() {}

  /// Performs requests on a buffer, as ``VNImageRequestHandler/perform(_:)`` does.
  open func perform(
    _ requests: [VNRequest], on pixelBuffer: CVPixelBuffer, orientation: CGImagePropertyOrientation = .up
  ) throws {
    try VNImageRequestHandler(cvPixelBuffer: pixelBuffer, orientation: orientation).perform(requests)
  }

  /// Performs requests on an image, as ``VNImageRequestHandler/perform(_:)`` does.
  open func perform(
    _ requests: [VNRequest], on image: CGImage, orientation: CGImagePropertyOrientation = .up
  ) throws {
    try VNImageRequestHandler(cgImage: image, orientation: orientation).perform(requests)
  }

  /// Performs requests on an image of Core Image, as ``VNImageRequestHandler/perform(_:)`` does.
  open func perform(
    _ requests: [VNRequest], on image: CIImage, orientation: CGImagePropertyOrientation = .up
  ) throws {
    try VNImageRequestHandler(ciImage: image, orientation: orientation).perform(requests)
  }

  /// Performs requests on an image file, turned upright by its EXIF orientation.
  open func perform(_ requests: [VNRequest], onImageURL imageURL: URL) throws {
    try VNImageRequestHandler(url: imageURL).perform(requests)
  }

  /// Performs requests on an image file. The orientation replaces the file's own.
  open func perform(
    _ requests: [VNRequest], onImageURL imageURL: URL, orientation: CGImagePropertyOrientation
  ) throws {
    try VNImageRequestHandler(url: imageURL, orientation: orientation).perform(requests)
  }

  /// Performs requests on the bytes of an image file, turned upright by its EXIF orientation.
  open func perform(_ requests: [VNRequest], onImageData imageData: Data) throws {
    try VNImageRequestHandler(data: imageData).perform(requests)
  }

  /// Performs requests on the bytes of an image file. The orientation replaces the file's own.
  open func perform(
    _ requests: [VNRequest], onImageData imageData: Data, orientation: CGImagePropertyOrientation
  ) throws {
    try VNImageRequestHandler(data: imageData, orientation: orientation).perform(requests)
  }
}
