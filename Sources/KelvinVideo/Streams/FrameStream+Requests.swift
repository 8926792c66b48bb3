public import Kelvin
import KelvinEngine
import KelvinGraph
public import KelvinMeasuring
package import KelvinRuntime
public import KelvinVision

extension FrameStream {
  /// Creates a stream of a request's results, with typed observations in the coordinates of the upright image.
  ///
  /// ```swift
  /// let stream = try await FrameStream(DetectionRequest(model: model), options: .init(deadline: .milliseconds(100)))
  /// ```
  ///
  /// - Parameters:
  ///   - request: the request that is performed on each frame.
  ///   - options: the stream's options. A governor needs one of Kelvin's own requests for a model:
  ///     `ClassificationRequest`, `DetectionRequest`, `SegmentationRequest`, `PoseRequest` or ``VideoRequest``.
  /// - Throws: `ModelError` with code `parameters` for invalid options, a governor for another request, or a stateful
  ///   model; `device` if a device fails; `predictionCancelled` if the task was cancelled.
  public convenience init<Request: ImageProcessingRequest>(
    _ request: Request, options: Options = Options()
  ) async throws(ModelError) where Output == Request.Result {
    let setup = try await BlockingWork.run { (cancellation) throws(ModelError) in
      try StreamSetup(for: request, options, cancellation)
    }
    self.init(request, options, setup)
  }

  /// Creates streams that share a request, its plans and a governor, such as those of several cameras. The streams take
  /// turns, one frame each, so that each gets an equal share of the devices.
  ///
  /// - Parameters:
  ///   - count: the number of streams.
  ///   - request: the request that is performed on each frame.
  ///   - options: the options of each stream. The frame rate is that of all streams together.
  /// - Throws: the errors of `init(_:options:)`.
  public static func streams<Request: ImageProcessingRequest>(
    _ count: Int, of request: Request, options: Options = Options()
  ) async throws(ModelError) -> [FrameStream<Output>] where Output == Request.Result {
    let setup = try await BlockingWork.run { (cancellation) throws(ModelError) in
      try StreamSetup(for: request, options, cancellation)
    }
    let turns = StreamTurns()
    return (0..<count).map { _ in FrameStream(request, options, setup, turns: turns) }
  }

  /// - Parameter sink: receives the answers in place of `answers`.
  package convenience init<Request: ImageProcessingRequest>(
    _ request: Request, _ options: Options, _ setup: StreamSetup, turns: StreamTurns? = nil,
    sink: FrameStreamSink<Output>? = nil
  ) where Output == Request.Result {
    let performing: [Performing<Output>]
    if let request = request as? any PlannedRequest {
      performing = zip(setup.predictors, setup.imageSizes).map { Self.performing(request, by: $0, upTo: $1) }
    } else {
      performing = [{ image, orientation, _ in try request.perform(on: image, orientation: orientation) }]
    }
    self.init(
      setup, options, turns: turns,
      answer: { content, plan, cancellation in
        guard case .image(let image, let orientation, _) = content else {
          preconditionFailure("a stream of a request takes images only")
        }
        return try performing[plan](image, orientation, cancellation)
      },
      isFatal: { error in
        if case .prediction(let error) = error as? VisionError { error.fault == .device } else { false }
      }, sink: sink)
  }

  private static func performing(
    _ request: some PlannedRequest, by predictor: Predictor, upTo size: ImageFeature.Size?
  ) -> Performing<Output> {
    let request = request.running(predictor, upTo: size)
    return { image, orientation, cancellation in
      let result = try request.result(of: image, orientation: orientation, cancellation)
      guard let output = result as? Output else { preconditionFailure("the request's result is the stream's output") }
      return output
    }
  }
}

private typealias Performing<Output> = @Sendable (PixelBuffer, ImageOrientation, Cancellation) throws -> Output

extension StreamSetup {
  /// - Throws: `ModelError` as `FrameStream.init(_:options:)` does.
  package init(
    for request: some ImageProcessingRequest, _ options: FrameStreamOptions, _ cancellation: Cancellation?
  ) throws(ModelError) {
    if let planned = request as? any PlannedRequest {
      try self.init(planned.model, options, mayShrink: true, cancellation)
    } else {
      guard !options.isGoverned else {
        throw ModelError(
          .parameters, "isGoverned: a governor cannot change the plan of a request of type \(type(of: request))",
          fault: .request)
      }
      try self.init(options)
    }
  }
}
