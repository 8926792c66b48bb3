public import FoundationEssentials
public import Kelvin

/// A handler that performs requests on one image. The image is decoded once, by the first request; every request on an
/// image that cannot be decoded throws the same error.
public struct ImageRequestHandler: Sendable {
  private let image: SourceImage

  /// Creates a handler for an image in memory.
  public init(_ image: PixelBuffer, orientation: ImageOrientation = .up) {
    self.image = SourceImage(image, orientation: orientation)
  }

  /// Creates a handler for an image file. Its EXIF orientation applies unless `orientation` is given.
  public init(_ url: URL, orientation: ImageOrientation? = nil) {
    image = SourceImage(url, orientation: orientation)
  }

  /// Creates a handler for the encoded bytes of an image file. Its EXIF orientation applies unless `orientation` is
  /// given.
  public init(_ data: Data, orientation: ImageOrientation? = nil) {
    image = SourceImage(data, orientation: orientation)
  }

  /// Performs one request.
  ///
  /// - Throws: `VisionError`; `image` where the image cannot be read or decoded.
  public func perform<Request: ImageProcessingRequest>(
    _ request: Request
  ) async throws(VisionError) -> Request.Result {
    let image = try await image.get()
    return try await request.perform(on: image.pixels, orientation: image.orientation)
  }

  /// Performs one request. Blocks the calling thread.
  ///
  /// - Throws: `VisionError`; `image` where the image cannot be read or decoded.
  public func perform<Request: ImageProcessingRequest>(_ request: Request) throws(VisionError) -> Request.Result {
    let image = try image.result.get()
    return try request.perform(on: image.pixels, orientation: image.orientation)
  }

  /// Performs requests of any types, one after the other, and returns a tuple of their results.
  ///
  /// - Throws: `VisionError` of the first request that fails; later requests are not performed. ``performAll(_:)``
  ///   continues after a failure.
  public func perform<each Request: ImageProcessingRequest>(
    _ request: repeat each Request
  ) async throws(VisionError) -> (repeat (each Request).Result) {
    let image = try await image.get()
    return (repeat try await (each request).perform(on: image.pixels, orientation: image.orientation))
  }

  /// Performs requests one after the other and yields each result as soon as it is available, in the order of the
  /// requests. After a failure the remaining requests are still performed. Ending the iteration or cancelling its task
  /// ends the work.
  public func performAll(_ requests: [any ImageProcessingRequest]) -> AsyncStream<VisionResult> {
    AsyncStream { continuation in
      let work = Task {
        for request in requests {
          if Task.isCancelled { break }
          continuation.yield(await result(of: request))
        }
        continuation.finish()
      }
      continuation.onTermination = { _ in work.cancel() }
    }
  }

  private func result<Request: ImageProcessingRequest>(of request: Request) async -> VisionResult {
    do throws(VisionError) {
      let found = try await perform(request)
      if let request = request as? CoreMLRequest, let observations = found as? [any VisionObservation] {
        return .coreML(request, observations)
      }
      return .other(request, found)
    } catch { return .error(request, error) }
  }
}

/// The result of one of several requests.
public enum VisionResult: Sendable {
  /// The observations of a ``CoreMLRequest``.
  case coreML(CoreMLRequest, [any VisionObservation])
  /// The result of a request of another type.
  case other(any ImageProcessingRequest, any Sendable)
  /// The error of a failed request.
  case error(any ImageProcessingRequest, VisionError)
}
