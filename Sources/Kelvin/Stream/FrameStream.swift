#if Measuring
import KelvinBasics
import KelvinEngine
public import KelvinFeatures
public import KelvinImages
import KelvinMeasurements
import KelvinRuntime
import KelvinStreams
import Synchronization

/// Answers the frames of a camera: the newest wins, and an old frame is worth nothing.
///
/// Frames are pushed as they come and answered one after the other, in order. ``push(_:)`` never waits: where more frames
/// wait than ``Options/queue`` allows, the oldest is dropped. With a ``Options/deadline`` a frame that could not be
/// answered in time is not begun, for the sake of a younger one. With ``Options/isGoverned`` the stream stays within what
/// the machine can shed as heat, and says in ``actions`` what it does about it, and why.
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
/// The answers end when the stream is finished and all that waited is answered; at once when the task that reads them is
/// cancelled; after those that were given already when ``cancel()`` is called, or the stream itself is let go; and with the
/// error when a device is lost and no other may take its place.
/// Another error is the answer of its frame alone.
public final class FrameStream: Sendable {
  /// How a stream treats its frames.
  public struct Options: Hashable, Sendable {
    /// Frames that may wait; when one more arrives, the oldest waiting one is dropped. At least 1.
    public var queue: Int
    /// How long after a frame's arrival its answer is of use; nil for any time. A frame that could not be answered by
    /// then is not begun where a younger one could be. A model that always takes longer is run nevertheless, and every
    /// answer says that it is late.
    public var deadline: Duration?
    /// Answers and actions that are kept for whoever reads them; of more, the newest. At least 1.
    public var buffer: Int
    /// Whether a governor may run a leaner plan, fewer threads, a lower precision where that was left to Kelvin, or leave
    /// frames out, when the machine gets hot.
    public var isGoverned: Bool
    /// Arrivals a second, as far as they are known: a governor then passes over what would not keep up with them.
    public var framesPerSecond: Double?
    /// The class of this machine for the model of heat, one of `ThermalMonitor.envelopes` or the path of such a file;
    /// an assumed one where nil.
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
  /// - Throws: `ModelError` with code `device` where a device was lost.
  public let answers: AsyncThrowingStream<Answer, any Error>
  /// What the governor does, as it does it, for one reader; nothing without one.
  public let actions: AsyncStream<Action>
  /// What the governor may do, from the preferred setting down, in words; one entry without one.
  public let settings: [String]

  private let worker: FrameWorker<any FeatureProvider, DictionaryFeatureProvider>
  private let cancellation = Cancellation()
  private let lost: LostDeliveries
  private let imageInput: String?

  /// A stream of a model's predictions. A governed one compiles and times the ways it may change to, which takes about as
  /// long as loading the model and a second more.
  ///
  /// - Parameters:
  ///   - model: answers the frames; it may be used elsewhere meanwhile.
  ///   - options: how frames are treated.
  /// - Throws: `ModelError` with code `parameters` for options that mean nothing, or a model with states; `device` where
  ///   a device fails; `predictionCancelled` where the task was cancelled.
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
    // The buffers must not keep the worker: it lives as long as the stream and the job at work.
    answering.onTermination = { [weak worker] _ in worker?.end() }
  }

  deinit { worker.end() }

  /// Lets a frame in. Never waits; from any number of tasks at once.
  ///
  /// - Parameter frame: the inputs of a prediction. It is asked for its features when it is begun, on another thread.
  /// - Returns: false where the stream has been finished or is over, so that it was not let in.
  @discardableResult
  public func push(_ frame: any FeatureProvider) -> Bool { worker.push(frame) }

  /// Lets an image in, for a model that takes one. It is neither copied nor scaled unless its turn comes.
  ///
  /// - Parameters:
  ///   - image: the image.
  ///   - orientation: how the stored pixels are turned.
  ///   - cropAndScale: how the image is brought to the size that the model takes.
  /// - Returns: as `push(_:)`; also false for a model that does not take exactly one image.
  @discardableResult
  public func push(
    _ image: PixelBuffer, orientation: ImageOrientation = .up, cropAndScale: ImageCropAndScale = .scaleToFit
  ) -> Bool {
    guard let imageInput else { return false }
    let value = FeatureValue(image: image, orientation: orientation, cropAndScale: cropAndScale)
    return worker.push(DictionaryFeatureProvider(dictionary: [imageInput: value]))
  }

  /// Lets no more frames in; the answers end after those that wait.
  public func finish() { worker.finish() }

  /// Ends the stream at once: what waits is let go, and the prediction at work is given up.
  public func cancel() { worker.end() }

  /// What has become of the frames so far.
  public var counts: Counts { Counts(worker.tally, lost: lost.value) }
}

/// What nobody read in time.
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
#endif
