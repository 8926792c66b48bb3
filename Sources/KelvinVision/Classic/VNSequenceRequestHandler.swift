public import FoundationEssentials
public import Kelvin

/// A handler that performs requests on one image after another, such as the frames of a video, and blocks until they
/// finish.
///
/// ```swift
/// let handler = VNSequenceRequestHandler()
/// for frame in frames { try handler.perform([request], on: frame, orientation: .right) }
/// ```
///
/// Each image is decoded once. A model is loaded, and its memory allocated, with the first image; no other state is
/// kept between images.
public final class VNSequenceRequestHandler {
  /// Creates a handler.
  public init() {}

  /// Performs requests on an image in memory, as ``VNImageRequestHandler/perform(_:)`` does.
  ///
  /// - Throws: `VisionError` of the first request that failed.
  public func perform(
    _ requests: [VNRequest], on pixelBuffer: PixelBuffer, orientation: ImageOrientation = .up
  ) throws(VisionError) {
    try VNImageRequestHandler(pixelBuffer: pixelBuffer, orientation: orientation).perform(requests)
  }

  /// Performs requests on an image file, as ``VNImageRequestHandler/perform(_:)`` does. The file's EXIF orientation
  /// applies unless `orientation` is given.
  ///
  /// - Throws: `VisionError` of the first request that failed; `image` where the file cannot be read or is not an
  ///   image.
  public func perform(
    _ requests: [VNRequest], onImageURL imageURL: URL, orientation: ImageOrientation? = nil
  ) throws(VisionError) {
    try VNImageRequestHandler(url: imageURL, orientation: orientation).perform(requests)
  }

  /// Performs requests on the bytes of an image file, as ``VNImageRequestHandler/perform(_:)`` does. The file's EXIF
  /// orientation applies unless `orientation` is given.
  ///
  /// - Throws: `VisionError` of the first request that failed; `image` where the bytes are not an image.
  public func perform(
    _ requests: [VNRequest], onImageData imageData: Data, orientation: ImageOrientation? = nil
  ) throws(VisionError) {
    try VNImageRequestHandler(data: imageData, orientation: orientation).perform(requests)
  }
}
