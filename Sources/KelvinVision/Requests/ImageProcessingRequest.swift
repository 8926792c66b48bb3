public import FoundationEssentials
public import Kelvin

/// A question about an image. A request of one's own needs the blocking `perform` alone, which then stands for both.
public protocol ImageProcessingRequest<Result>: Sendable {
  /// What the question's answer is.
  associatedtype Result: Sendable

  /// The part of the upright image that the request is about.
  var regionOfInterest: NormalizedRect { get set }

  /// Answers for an image in memory.
  ///
  /// - Parameters:
  ///   - image: the image.
  ///   - orientation: how its stored pixels are turned.
  /// - Throws: `VisionError`.
  func perform(on image: PixelBuffer, orientation: ImageOrientation) async throws(VisionError) -> Result

  /// Answers for an image in memory. Blocks the calling thread.
  ///
  /// - Parameters:
  ///   - image: the image.
  ///   - orientation: how its stored pixels are turned.
  /// - Throws: `VisionError`.
  func perform(on image: PixelBuffer, orientation: ImageOrientation) throws(VisionError) -> Result
}

extension ImageProcessingRequest {
  /// Answers for an image in memory, upright as it is stored.
  ///
  /// - Throws: `VisionError`.
  public func perform(on image: PixelBuffer) async throws(VisionError) -> Result {
    try await perform(on: image, orientation: .up)
  }

  /// Answers for an image file; its EXIF orientation holds unless `orientation` is given.
  ///
  /// - Throws: `VisionError`; `image` where the file cannot be read or is not an image.
  public func perform(on url: URL, orientation: ImageOrientation? = nil) async throws(VisionError) -> Result {
    try await ImageRequestHandler(url, orientation: orientation).perform(self)
  }

  /// Answers for an image file's bytes; its EXIF orientation holds unless `orientation` is given.
  ///
  /// - Throws: `VisionError`; `image` where they are not an image.
  public func perform(on data: Data, orientation: ImageOrientation? = nil) async throws(VisionError) -> Result {
    try await ImageRequestHandler(data, orientation: orientation).perform(self)
  }
}
