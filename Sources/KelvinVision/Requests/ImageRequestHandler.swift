public import FoundationEssentials
public import Kelvin

/// An image, and requests to be performed on it. The image is decoded once, when the handler is made.
public struct ImageRequestHandler: Sendable {
  private let pixels: PixelBuffer
  private let orientation: ImageOrientation

  /// An image in memory.
  public init(_ image: PixelBuffer, orientation: ImageOrientation = .up) {
    pixels = image
    self.orientation = orientation
  }

  /// An image file; its EXIF orientation holds unless `orientation` is given.
  ///
  /// - Throws: `VisionError.image` where the file cannot be read or is not an image.
  public init(_ url: URL, orientation: ImageOrientation? = nil) throws(VisionError) {
    do throws(ImageError) {
      let decoded = try ImageFile.decode(path: url.path, orientation: orientation)
      self.init(decoded.pixels, orientation: decoded.orientation)
    } catch { throw .image(error) }
  }

  /// Encoded bytes of an image file.
  ///
  /// - Throws: `VisionError.image` where they are not an image.
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

  /// Performs requests of any types, one after the other, and answers with a tuple of their results.
  ///
  /// - Throws: `VisionError` of the first request that fails; the later ones are not performed. ``performAll(_:)``
  ///   keeps what the others found.
  public func perform<each Request: ImageProcessingRequest>(
    _ request: repeat each Request
  ) async throws(VisionError) -> (repeat (each Request).Result) {
    (repeat try await (each request).perform(on: pixels, orientation: orientation))
  }

  /// Performs requests one after the other and hands each result over as it is there, in the requests' order. A request
  /// that fails does not keep the others from being performed. Ending the iteration, or its task, ends the work.
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

/// What became of one of several requests.
public enum VisionResult: Sendable {
  /// What a model found.
  case coreML(CoreMLRequest, [any VisionObservation])
  /// The result of a request of another type.
  case other(any ImageProcessingRequest, any Sendable)
  /// Why a request failed.
  case error(any ImageProcessingRequest, VisionError)
}
