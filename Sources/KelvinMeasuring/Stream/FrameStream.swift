import Kelvin
import KelvinBasics
import KelvinEngine
package import KelvinFeatures
public import KelvinImages
package import KelvinMeasurements
package import KelvinRuntime
import KelvinStreams

/// Answers the frames of a camera or a video, and prefers new frames to old ones.
///
/// Frames are pushed as they arrive and answered in order. ``push(_:orientation:timestamp:)`` never
/// waits: if more frames wait than ``FrameStreamOptions/queue`` allows, the oldest is dropped. With a
/// ``FrameStreamOptions/deadline``, a frame whose result would be late is skipped in favor of a newer frame. With
/// ``FrameStreamOptions/isGoverned``, the stream stays within the machine's thermal limits and reports each change with
/// its reason in ``actions``. A reader of a file, which has all frames at once, calls
/// ``send(_:orientation:timestamp:)``, which waits for room instead.
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
/// A stream of a model answers with the model's outputs. With the module `KelvinVideo`, a stream of a request, such as
/// `FrameStream(DetectionRequest(model: model))`, answers with the request's observations.
///
/// The answers end after the last waiting frame once the stream is finished. They end at once when the last reading task
/// is cancelled. After ``cancel()``, or when the stream is released, they end after the answers already delivered. They
/// end with an error when a device is lost and no other device can replace it; every other error belongs to its frame
/// only.
public final class FrameStream<Output: Sendable>: Sendable {
  /// The options of a stream.
  public typealias Options = FrameStreamOptions
  /// A change that the governor made.
  public typealias Action = FrameStreamAction
  /// The counts of a stream's frames.
  public typealias Counts = FrameStreamCounts

  /// The governor's changes as they happen, for one reader; empty without a governor.
  public let actions: AsyncStream<Action>
  /// The measured effects of the governor's changes, for one reader; empty without a governor. Each comes about ten
  /// seconds after its change, on the clock of the heat, or with the next change or the end of the stream.
  public let effects: AsyncStream<FrameStreamEffect>
  /// Descriptions of the settings that the governor may use, beginning with the preferred one; a single entry without a
  /// governor.
  public let settings: [String]

  private let worker: FrameWorker<StreamedFrame, Output>
  private let cancellation: Cancellation
  private let broadcast: AnswerBroadcast<Answer>
  private let slots: FrameSlots
  private let unreadActions: UnreadCount
  let takesImages: Bool

  /// - Parameters:
  ///   - turns: the turns of streams that share a model; nil for a stream of its own.
  ///   - answer: predicts with the plan of an index in the setup's plans.
  ///   - isFatal: whether the stream cannot continue after an error.
  ///   - sink: receives the answers in place of `answers`.
  package init(
    _ setup: StreamSetup, _ options: Options, turns: StreamTurns? = nil, takesImages: Bool = true,
    clock: any MeasurementClock = SystemClock(),
    answer: @escaping @Sendable (StreamedFrame.Content, _ plan: Int, Cancellation) throws -> Output,
    isFatal: @escaping @Sendable (any Error) -> Bool, sink: FrameStreamSink<Output>? = nil
  ) {
    let (actions, acting) = AsyncStream.makeStream(
      of: Action.self, bufferingPolicy: .bufferingNewest(options.buffer))
    let (effects, effecting) = AsyncStream.makeStream(
      of: FrameStreamEffect.self, bufferingPolicy: .bufferingNewest(options.buffer))
    let (unreadActions, cancellation, began) = (UnreadCount(), Cancellation(), clock.now())
    let slots = FrameSlots(options.queue)
    let reference = WorkerReference<Output>()
    let broadcast = AnswerBroadcast<Answer>(limit: options.buffer) { reference.end() }
    let control = setup.control
    let keepsImages = options.keepsImages
    let tell: @Sendable (StreamEvents) -> Void = { events in
      let speed = control?.heatSpeed
      for action in events.actions {
        unreadActions.count(acting.yield(Action(action, since: began, labels: setup.labels, heatSpeed: speed)))
      }
      for effect in events.effects {
        unreadActions.count(
          effecting.yield(FrameStreamEffect(effect, since: began, labels: setup.labels, heatSpeed: speed)))
      }
    }
    control?.begin()
    worker = FrameWorker(
      setting: setup.setting, deadline: options.deadline?.inSeconds, lanes: setup.lanes, clock: clock,
      .init(
        start: { job in if let turns { turns.take(job) } else { BlockingWork.start(job) } },
        answer: { frame, setting in
          frame.place?.leave()
          return try answer(frame.content, setting.plan, cancellation)
        },
        deliver: { outcome in
          let answer = Answer(
            outcome, since: began, plan: setup.labels[outcome.setting.plan], keepsImage: keepsImages)
          if let sink { sink.answer(answer) } else { broadcast.yield(answer) }
        },
        isFatal: isFatal,
        adjust: { outcome in
          guard let control else { return nil }
          tell(
            control.answered(from: outcome.arrival, outcome.start, to: outcome.end, plan: outcome.setting.plan))
          let setting = control.setting
          turns?.lanes = setup.lanes.indices.contains(setting.plan) ? setup.lanes[setting.plan] : 1
          return setting == outcome.setting ? nil : setting
        },
        end: { error in
          cancellation.cancel()
          slots.close()
          broadcast.finish(error)
          sink?.end(error)
          if let control { tell(control.end(at: clock.now())) }
          acting.finish()
          effecting.finish()
        }))
    self.actions = actions
    self.effects = effects
    self.broadcast = broadcast
    self.cancellation = cancellation
    self.slots = slots
    self.unreadActions = unreadActions
    self.takesImages = takesImages
    settings = setup.settings
    // The broadcast must not retain the worker, which lives as long as the stream and the running job.
    reference.set(worker)
  }

  deinit { worker.end() }

  /// The answers, in the order of their frames. Each iteration is a reader of its own, which begins with the latest
  /// answers, at most ``FrameStreamOptions/buffer``.
  ///
  /// - Throws: `ModelError` with code `device` if a device was lost; for a stream of a request, its error.
  public var answers: some AsyncSequence<Answer, any Error> & Sendable { AnswerSequence(broadcast: broadcast) }

  func push(_ content: StreamedFrame.Content, timestamp: Duration?) -> Bool {
    worker.push(StreamedFrame(content: content, timestamp: timestamp))
  }

  /// Adds an image. The image is neither copied nor scaled before its prediction begins. Never waits, and can be called
  /// from any number of tasks at once.
  ///
  /// - Parameters:
  ///   - image: the image.
  ///   - orientation: the orientation of the stored pixels.
  ///   - timestamp: the caller's time of the frame, which its answer holds.
  /// - Returns: false if the stream has ended and the frame was rejected; also for a model that does not take exactly
  ///   one image.
  @discardableResult
  public func push(_ image: PixelBuffer, orientation: ImageOrientation = .up, timestamp: Duration? = nil) -> Bool {
    takesImages && push(.image(image, orientation, nil), timestamp: timestamp)
  }

  /// Adds an image as soon as there is room for it, so that no frame is dropped: at most ``FrameStreamOptions/queue``
  /// frames wait while others are being answered. Frames that are pushed can nevertheless replace it.
  ///
  /// - Parameters: as of ``push(_:orientation:timestamp:)``.
  /// - Returns: as ``push(_:orientation:timestamp:)``; also false if the task was cancelled.
  @discardableResult
  public func send(
    _ image: PixelBuffer, orientation: ImageOrientation = .up, timestamp: Duration? = nil
  ) async -> Bool {
    guard takesImages, let place = await slots.take() else { return false }
    return worker.push(StreamedFrame(content: .image(image, orientation, nil), timestamp: timestamp, place: place))
  }

  /// Does the same as `send`. Blocks the calling thread, which must not be one of `BlockingWork`.
  package func sendBlocking(_ image: PixelBuffer, orientation: ImageOrientation, timestamp: Duration?) -> Bool {
    guard takesImages, let place = slots.takeBlocking() else { return false }
    return worker.push(StreamedFrame(content: .image(image, orientation, nil), timestamp: timestamp, place: place))
  }

  /// Rejects further frames. The answers end after the waiting frames.
  public func finish() { worker.finish() }

  /// Ends the stream at once. Waiting frames are dropped, and the running prediction is abandoned.
  public func cancel() { worker.end() }

  /// The counts of the stream's frames so far.
  public var counts: Counts { Counts(worker.tally, unread: broadcast.unread + unreadActions.value) }
}

/// The receiver of a stream's answers on the thread that predicts, which waits for it.
package struct FrameStreamSink<Output: Sendable>: Sendable {
  let answer: @Sendable (FrameStream<Output>.Answer) -> Void
  let end: @Sendable ((any Error)?) -> Void

  /// - Parameters:
  ///   - answer: receives each answer, in order.
  ///   - end: called once after the last answer, with the error that ended the stream.
  package init(
    answer: @escaping @Sendable (FrameStream<Output>.Answer) -> Void,
    end: @escaping @Sendable ((any Error)?) -> Void
  ) {
    (self.answer, self.end) = (answer, end)
  }
}

/// A frame of a stream.
package struct StreamedFrame: Sendable {
  package enum Content: Sendable {
    case features(any FeatureProvider)
    /// - Parameter third: the method that fits the image to the model's input size; nil for the usual one.
    case image(PixelBuffer, ImageOrientation, ImageCropAndScale?)
  }

  let content: Content
  let timestamp: Duration?
  var place: FrameSlots.Place?
}
