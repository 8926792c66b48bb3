public import FoundationEssentials
public import Kelvin

/// A handler that performs requests on one image. The image is decoded once, when the handler is created.
public struct ImageRequestHandler: Sendable {
  private let pixels: PixelBuffer
  private let orientation: ImageOrientation

  /// Creates a handler for an image in memory.
  public init(_ image: PixelBuffer, orientation: ImageOrientation = .up) {
    pixels = image
    self.orientation = orientation
  }

  /// Creates a handler for an image file. Its EXIF orientation applies unless `orientation` is given.
  ///
  /// - Throws: `VisionError.image` where the file cannot be read or is not an image.
  public init(_ url: URL, orientation: ImageOrientation? = nil) throws(VisionError) {
    do throws(ImageError) {
      let decoded = try ImageFile.decode(path: url.path, orientation: orientation)
      self.init(decoded.pixels, orientation: decoded.orientation)
    } catch { throw .image(error) }
  }

  /// Creates a handler for the encoded bytes of an image file.
  ///
  /// - Throws: `VisionError.image` where the bytes are not an image.
  public init(_ data: Data, orientation: ImageOrientation? = nil) throws(VisionError) {
    do throws(ImageError) {
      let decoded = try ImageFile.decode(Array(data), name: "data", orientation: orientation)
      self.init(decoded.pixels, orientation: decoded.orientation)
    } catch { throw .image(error) }
  }

  /// Performs one request.
  ///
  /// - Throws: `VisionError`.
  public func perform<Request: ImageProcessingRequest>(
    _ request: Request
  ) async throws(VisionError) -> Request.Result {
    try await request.perform(on: pixels, orientation: orientation)
  }

  /// Performs one request. Blocks the calling thread.
  ///
  /// - Throws: `VisionError`.
  public func perform<Request: ImageProcessingRequest>(_ request: Request) throws(VisionError) -> Request.Result {
    try request.perform(on: pixels, orientation: orientation)
  }

  /// Performs requests of any types, one after the other, and returns a tuple of their results.
  ///
  /// - Throws: `VisionError` of the first request that fails; later requests are not performed. ``performAll(_:)``
  ///   continues after a failure.
  public func perform<each Request: ImageProcessingRequest>(
    _ request: repeat each Request
  ) async throws(VisionError) -> (repeat (each Request).Result) {
    (repeat try await (each request).perform(on: pixels, orientation: orientation))
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
