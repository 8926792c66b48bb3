public import Kelvin
import KelvinBasics
import KelvinEngine
public import KelvinFeatures
public import KelvinImages
import KelvinMeasurements
import KelvinRuntime
import KelvinStreams
import Synchronization

/// Predicts on the frames of a camera and prefers new frames to old ones.
///
/// Frames are pushed as they arrive and processed one after another, in order. ``push(_:)`` never waits: if more frames
/// wait than ``Options/queue`` allows, the oldest is dropped. With a ``Options/deadline``, a frame whose result would
/// be late is skipped in favor of a newer frame. With ``Options/isGoverned``, the stream stays within the machine's
/// thermal limits and reports each change with its reason in ``actions``.
///
/// ```swift
/// let stream = try await FrameStream(model, options: .init(deadline: .milliseconds(100)))
/// Task {
///   for await image in camera { stream.push(image) }
///   stream.finish()
/// }
/// for try await answer in stream.answers {
///   print(answer.number, answer.latency, try answer.features()["classLabel"]?.stringValue ?? "nothing")
/// }
/// print(stream.counts)
/// ```
///
/// The answers end after the last waiting frame once the stream is finished. They end at once when the reading task is
/// cancelled. After ``cancel()``, or when the stream is released, they end after the answers already delivered. They
/// end with an error when a device is lost and no other device can replace it; every other error belongs to its frame
/// only.
public final class FrameStream: Sendable {
  /// The options of a stream.
  public struct Options: Hashable, Sendable {
    /// The number of frames that may wait. When one more arrives, the oldest waiting frame is dropped. At least 1.
    public var queue: Int
    /// The time after a frame's arrival until which its result is useful; nil for no limit. A frame whose result would
    /// be late is skipped if a newer frame could be in time. If the model is always too slow, frames run nevertheless
    /// and every answer is marked late.
    public var deadline: Duration?
    /// The number of unread answers and actions to keep; older ones are dropped. At least 1.
    public var buffer: Int
    /// Whether a governor may react when the machine gets hot: with a cheaper plan, fewer threads, a lower precision if
    /// `precision` is automatic, or by skipping frames.
    public var isGoverned: Bool
    /// The expected frame rate, if known. The governor then avoids settings that cannot keep up with it.
    public var framesPerSecond: Double?
    /// The class of this machine for the thermal model: one of `ThermalMonitor.envelopes` or the path of an envelope
    /// file. Nil to assume a class.
    public var thermalEnvelope: String?

    /// - Parameters: as the properties.
    public init(
      queue: Int = 1, deadline: Duration? = nil, buffer: Int = 16, isGoverned: Bool = false,
      framesPerSecond: Double? = nil, thermalEnvelope: String? = nil
    ) {
      self.queue = queue
      self.deadline = deadline
      self.buffer = buffer
      self.isGoverned = isGoverned
      self.framesPerSecond = framesPerSecond
      self.thermalEnvelope = thermalEnvelope
    }
  }

  /// The answers, in the order of their frames, for one reader.
  ///
  /// - Throws: `ModelError` with code `device` if a device was lost.
  public let answers: AsyncThrowingStream<Answer, any Error>
  /// The governor's changes as they happen, for one reader; empty without a governor.
  public let actions: AsyncStream<Action>
  /// Descriptions of the settings that the governor may use, beginning with the preferred one; a single entry without a
  /// governor.
  public let settings: [String]

  private let worker: FrameWorker<any FeatureProvider, DictionaryFeatureProvider>
  private let cancellation = Cancellation()
  private let lost: LostDeliveries
  private let imageInput: String?

  /// Creates a stream of a model's predictions. A governed stream compiles and times its settings, which takes about as
  /// long as loading the model plus a second.
  ///
  /// - Parameters:
  ///   - model: the model that runs on the frames. Other predictions of the model may run meanwhile.
  ///   - options: the stream's options.
  /// - Throws: `ModelError` with code `parameters` for invalid options or a stateful model; `device` if a device fails;
  ///   `predictionCancelled` if the task was cancelled.
  public convenience init(_ model: Model, options: Options = Options()) async throws(ModelError) {
    let setup = try await BlockingWork.run { (cancellation) throws(ModelError) -> StreamSetup in
      try StreamSetup(model, options, cancellation)
    }
    self.init(model, options, setup)
  }

  init(_ model: Model, _ options: Options, _ setup: StreamSetup, clock: any MeasurementClock = SystemClock()) {
    let (answers, answering) = AsyncThrowingStream.makeStream(
      of: Answer.self, throwing: (any Error).self, bufferingPolicy: .bufferingNewest(options.buffer))
    let (actions, acting) = AsyncStream.makeStream(
      of: Action.self, bufferingPolicy: .bufferingNewest(options.buffer))
    let (lost, cancellation, began) = (LostDeliveries(), cancellation, clock.now())
    let run = setup.run
    worker = FrameWorker(
      setting: setup.setting, deadline: options.deadline?.inSeconds, clock: clock,
      .init(
        start: { BlockingWork.start($0) },
        answer: { (frame, setting) throws(ModelError) in
          try setup.predictors[setting.plan].predict(frame, [:], cancellation)
        },
        deliver: { outcome in
          lost.count(answering.yield(Answer(outcome, since: began, plan: setup.labels[outcome.setting.plan])))
        },
        isFatal: { ($0 as? ModelError)?.fault == .device },
        adjust: { outcome in
          guard let action = run?.act(after: outcome.end) else { return nil }
          lost.count(acting.yield(Action(action, since: began, labels: setup.labels)))
          return action.setting
        },
        end: { error in
          cancellation.cancel()
          answering.finish(throwing: error)
          acting.finish()
        }))
    self.answers = answers
    self.actions = actions
    self.lost = lost
    settings = setup.settings
    let images = model.modelDescription.inputDescriptionsByName.values.filter { $0.type == .image }
    imageInput = images.count == 1 ? images[0].name : nil
    // The continuation must not retain the worker, which lives as long as the stream and the running job.
    answering.onTermination = { [weak worker] _ in worker?.end() }
  }

  deinit { worker.end() }

  /// Adds a frame. Never waits, and can be called from any number of tasks at once.
  ///
  /// - Parameter frame: the inputs of a prediction. Its features are read on another thread when the prediction begins.
  /// - Returns: false if the stream has ended and the frame was rejected.
  @discardableResult
  public func push(_ frame: any FeatureProvider) -> Bool { worker.push(frame) }

  /// Adds an image, for a model with one image input. The image is copied and scaled only if its prediction begins.
  ///
  /// - Parameters:
  ///   - image: the image.
  ///   - orientation: the orientation of the stored pixels.
  ///   - cropAndScale: how the image is fitted to the model's input size.
  /// - Returns: as `push(_:)`; also false for a model that does not take exactly one image.
  @discardableResult
  public func push(
    _ image: PixelBuffer, orientation: ImageOrientation = .up, cropAndScale: ImageCropAndScale = .scaleToFit
  ) -> Bool {
    guard let imageInput else { return false }
    let value = FeatureValue(image: image, orientation: orientation, cropAndScale: cropAndScale)
    return worker.push(DictionaryFeatureProvider(dictionary: [imageInput: value]))
  }

  /// Rejects further frames. The answers end after the waiting frames.
  public func finish() { worker.finish() }

  /// Ends the stream at once. Waiting frames are dropped, and the running prediction is abandoned.
  public func cancel() { worker.end() }

  /// The counts of the stream's frames so far.
  public var counts: Counts { Counts(tally: worker.tally, unread: lost.value) }
}

/// The number of deliveries that were dropped unread.
private final class LostDeliveries: Sendable {
  private let counted = Mutex(0)

  var value: Int { counted.withLock { $0 } }

  func count(_ result: AsyncThrowingStream<FrameStream.Answer, any Error>.Continuation.YieldResult) {
    if case .dropped = result { counted.withLock { $0 += 1 } }
  }

  func count(_ result: AsyncStream<FrameStream.Action>.Continuation.YieldResult) {
    if case .dropped = result { counted.withLock { $0 += 1 } }
  }
}
