public import FoundationEssentials
public import Kelvin

/// Requests to be performed on one picture after another, such as the frames of a video, while the caller waits.
///
/// ```swift
/// let handler = VNSequenceRequestHandler()
/// for frame in frames { try handler.perform([request], on: frame, orientation: .right) }
/// ```
///
/// Each picture is decoded once. Requests keep nothing from one picture to the next but what is their own: a model is loaded,
/// and its memory made, with the first.
public final class VNSequenceRequestHandler {
  /// A handler that has seen no picture.
  public init() {}

  /// Performs requests on a picture in memory, as ``VNImageRequestHandler/perform(_:)``.
  ///
  /// - Throws: `VisionError` of the first request that failed.
  public func perform(
    _ requests: [VNRequest], on pixelBuffer: PixelBuffer, orientation: ImageOrientation = .up
  ) throws(VisionError) {
    try VNImageRequestHandler(pixelBuffer: pixelBuffer, orientation: orientation).perform(requests)
  }

  /// Performs requests on a picture file, as ``VNImageRequestHandler/perform(_:)``; its EXIF orientation holds unless
  /// `orientation` is given.
  ///
  /// - Throws: `VisionError` of the first request that failed; `image` where the file cannot be read or is not a picture.
  public func perform(
    _ requests: [VNRequest], onImageURL imageURL: URL, orientation: ImageOrientation? = nil
  ) throws(VisionError) {
    try VNImageRequestHandler(url: imageURL, orientation: orientation).perform(requests)
  }

  /// Performs requests on the bytes of a picture file, as ``VNImageRequestHandler/perform(_:)``; its EXIF orientation holds
  /// unless `orientation` is given.
  ///
  /// - Throws: `VisionError` of the first request that failed; `image` where they are not a picture.
  public func perform(
    _ requests: [VNRequest], onImageData imageData: Data, orientation: ImageOrientation? = nil
  ) throws(VisionError) {
    try VNImageRequestHandler(data: imageData, orientation: orientation).perform(requests)
  }
}
