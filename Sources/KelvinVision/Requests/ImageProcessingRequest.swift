public import FoundationEssentials
public import Kelvin

/// A request that analyses an image. A type outside this library only needs to implement the blocking `perform`, which
/// then also serves asynchronous callers.
public protocol ImageProcessingRequest<Result>: Sendable {
  /// The type of the result.
  associatedtype Result: Sendable

  /// The part of the upright image that the request analyses.
  var regionOfInterest: NormalizedRect { get set }

  /// Performs the request on an image in memory.
  ///
  /// - Parameters:
  ///   - image: The image.
  ///   - orientation: The orientation of the stored pixels.
  /// - Throws: `VisionError`.
  func perform(on image: PixelBuffer, orientation: ImageOrientation) async throws(VisionError) -> Result

  /// Performs the request on an image in memory. Blocks the calling thread.
  ///
  /// - Parameters:
  ///   - image: The image.
  ///   - orientation: The orientation of the stored pixels.
  /// - Throws: `VisionError`.
  func perform(on image: PixelBuffer, orientation: ImageOrientation) throws(VisionError) -> Result
}

extension ImageProcessingRequest {
  /// Performs the request on an image in memory whose stored pixels are upright.
  ///
  /// - Throws: `VisionError`.
  public func perform(on image: PixelBuffer) async throws(VisionError) -> Result {
    try await perform(on: image, orientation: .up)
  }

  /// Performs the request on an image file. The file's EXIF orientation applies unless `orientation` is given.
  ///
  /// - Throws: `VisionError`; `image` where the file cannot be read or is not an image.
  public func perform(on url: URL, orientation: ImageOrientation? = nil) async throws(VisionError) -> Result {
    try await ImageRequestHandler(url, orientation: orientation).perform(self)
  }

  /// Performs the request on the bytes of an image file. The file's EXIF orientation applies unless `orientation` is
  /// given.
  ///
  /// - Throws: `VisionError`; `image` where the bytes are not an image.
  public func perform(on data: Data, orientation: ImageOrientation? = nil) async throws(VisionError) -> Result {
    try await ImageRequestHandler(data, orientation: orientation).perform(self)
  }
}
