public import FoundationEssentials
public import Kelvin

/// Requests to be performed on one image after another, such as the frames of a video, while the caller waits.
///
/// ```swift
/// let handler = VNSequenceRequestHandler()
/// for frame in frames { try handler.perform([request], on: frame, orientation: .right) }
/// ```
///
/// Each image is decoded once. Requests keep nothing from one image to the next but what is their own: a model is loaded,
/// and its memory made, with the first.
public final class VNSequenceRequestHandler {
  /// A handler that has seen no image.
  public init() {}

  /// Performs requests on an image in memory, as ``VNImageRequestHandler/perform(_:)``.
  ///
  /// - Throws: `VisionError` of the first request that failed.
  public func perform(
    _ requests: [VNRequest], on pixelBuffer: PixelBuffer, orientation: ImageOrientation = .up
  ) throws(VisionError) {
    try VNImageRequestHandler(pixelBuffer: pixelBuffer, orientation: orientation).perform(requests)
  }

  /// Performs requests on an image file, as ``VNImageRequestHandler/perform(_:)``; its EXIF orientation holds unless
  /// `orientation` is given.
  ///
  /// - Throws: `VisionError` of the first request that failed; `image` where the file cannot be read or is not an image.
  public func perform(
    _ requests: [VNRequest], onImageURL imageURL: URL, orientation: ImageOrientation? = nil
  ) throws(VisionError) {
    try VNImageRequestHandler(url: imageURL, orientation: orientation).perform(requests)
  }

  /// Performs requests on the bytes of an image file, as ``VNImageRequestHandler/perform(_:)``; its EXIF orientation holds
  /// unless `orientation` is given.
  ///
  /// - Throws: `VisionError` of the first request that failed; `image` where they are not an image.
  public func perform(
    _ requests: [VNRequest], onImageData imageData: Data, orientation: ImageOrientation? = nil
  ) throws(VisionError) {
    try VNImageRequestHandler(data: imageData, orientation: orientation).perform(requests)
  }
}
