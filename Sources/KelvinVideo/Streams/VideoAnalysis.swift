import Dispatch
public import Kelvin
import KelvinBasics
import KelvinEngine
import KelvinGraph
import KelvinImages
public import KelvinMeasuring
package import KelvinMeasurements
public import KelvinVision
import Synchronization

/// Analyses the frames of one or several videos with a request.
///
/// A file is analysed frame by frame, in order, as fast as the model goes: with several frames at the same time where
/// that answers more per second. A live source, or a file with
/// ``Options/isLive``, arrives at its own pace, and frames that the model has no time for are dropped. Several sources
/// share the model, its plans and the governor, and take turns.
///
/// ```swift
/// let request = try VideoRequest(model: try await Model.load(contentsOf: model))
/// let analysis = try await VideoAnalysis(request, of: [try VideoSource("clip.mp4")], options: .init(tracks: true))
/// let outcomes = try await analysis.run { answer in print(answer.time, answer.result) }
/// ```
public final class VideoAnalysis: Sendable {
  /// The options of an analysis.
  public struct Options: Sendable {
    /// Whether frames arrive at their own pace and late ones are dropped; nil for live sources only. A governor leaves
    /// out frames of any source, and forecasts best with a pace.
    public var isLive: Bool?
    /// Whether objects and poses are followed from frame to frame.
    public var tracks: Bool
    /// Whether confidences of classes and places of joints are smoothed over time.
    public var smooths: Bool
    /// The parameters of tracking and smoothing.
    public var parameters: StreamParameters
    /// Whether the record keeps a small image of each track.
    public var keepsTrackImages: Bool
    /// The number of frames of each source after which the analysis ends; nil for all.
    public var frameLimit: Int?
    /// The time after which the analysis ends; nil for no limit.
    public var duration: Duration?
    /// The options of each stream of frames. Its frame rate, if nil, is that of live sources together. The deadline of
    /// a source that is not live counts from the beginning of a prediction, so no frame is left out for it.
    public var stream: FrameStreamOptions

    /// - Parameters: as the properties.
    public init(
      isLive: Bool? = nil, tracks: Bool = false, smooths: Bool = false, parameters: StreamParameters = .init(),
      keepsTrackImages: Bool = false, frameLimit: Int? = nil, duration: Duration? = nil,
      stream: FrameStreamOptions = .init()
    ) {
      self.isLive = isLive
      self.tracks = tracks
      self.smooths = smooths
      self.parameters = parameters
      self.keepsTrackImages = keepsTrackImages
      self.frameLimit = frameLimit
      self.duration = duration
      self.stream = stream
    }
  }

  /// The answer for a frame.
  public struct Answer: Sendable {
    /// The index of the frame's source.
    public let source: Int
    /// The number of frames of the source before this one.
    public let frame: Int
    /// The frame's time in the source's own clock.
    public let time: Duration
    /// The time from the frame's arrival to its answer; of the prediction, if the source is not live.
    public let latency: Duration
    /// The time of the prediction.
    public let service: Duration
    /// Whether the answer came after the deadline.
    public let isLate: Bool
    /// The setting of the governor with which the frame was answered.
    public let setting: String
    /// The fraction of frames that the governor accepted then, above 0 and at most 1.
    public let share: Double
    /// The size of the upright frame in pixels.
    public let size: ImageSize
    /// The observations, or the error of this frame.
    public let result: Result<VideoObservations, VisionError>
    /// The frame, with `keepsImages`; nil otherwise.
    public let image: PixelBuffer?
    /// The orientation of the stored pixels.
    public let orientation: ImageOrientation
  }

  /// How the analysis of a source ended.
  public struct Outcome: Sendable {
    /// The counts of frames.
    public let counts: FrameStreamCounts
    /// The error that ended the source early; nil if it was read to its end, or to a limit.
    public let error: VideoError?
    /// Notes about the source, such as that its frames change their size.
    public let remarks: [String]
  }

  /// The request.
  public let request: VideoRequest
  /// The sources.
  public let sources: [VideoSource]
  /// The options.
  public let options: Options
  /// Descriptions of the settings that the governor may use, beginning with the preferred one.
  public let settings: [String]
  /// Notes about the settings, such as that no plan meets the deadline.
  public let remarks: [String]

  private let setup: StreamSetup
  private let clock: any MeasurementClock
  private let isCancelled = Atomic(false)
  private let recorded: Mutex<(record: VideoRecord, began: Double?)>

  /// Prepares the analysis. With a governor, its settings are compiled and timed.
  ///
  /// - Parameters:
  ///   - request: The request that is performed on each frame.
  ///   - sources: The sources, at least one. Each is read to its end by this analysis, and not used by others.
  ///   - options: The options.
  /// - Throws: `ModelError` as `FrameStream.init` does.
  public convenience init(
    _ request: VideoRequest, of sources: [VideoSource], options: Options = Options()
  ) async throws(ModelError) {
    let setup = try await BlockingWork.run { (cancellation) throws(ModelError) in
      try StreamSetup(for: request, Self.streamOptions(options, sources.map(\.facts)), cancellation)
    }
    self.init(request, sources, options, setup, clock: SystemClock())
  }

  package init(
    _ request: VideoRequest, _ sources: [VideoSource], _ options: Options, _ setup: StreamSetup,
    clock: any MeasurementClock
  ) {
    self.request = request
    self.sources = sources
    self.options = options
    self.setup = setup
    self.clock = clock
    settings = setup.settings
    remarks = setup.remarks
    let named = sources.map(\.facts).map { (name: $0.name, isLive: options.isLive ?? $0.isLive) }
    recorded = Mutex((VideoRecord(named, of: request, options), nil))
  }

  /// The course of the analysis so far.
  public var record: VideoRecord { recorded.withLock { $0.record } }

  private func record(_ change: (inout VideoRecord, _ now: Double) -> Void) {
    recorded.withLock { recorded in
      let now = clock.now()
      recorded.began = recorded.began ?? now
      change(&recorded.record, now - (recorded.began ?? now))
    }
  }

  private static func streamOptions(_ options: Options, _ facts: [VideoFacts]) -> FrameStreamOptions {
    var stream = options.stream
    let rates = facts.filter { options.isLive ?? $0.isLive }.map(\.framesPerSecond)
    if stream.framesPerSecond == nil, rates.count == facts.count, !rates.contains(nil) {
      stream.framesPerSecond = rates.reduce(0) { $0 + ($1 ?? 0) }
    }
    let sizes = facts.map { facts in
      let (width, height) = (facts.width, facts.height)
      return facts.orientation.swapsAxes
        ? ImageFeature.Size(width: height, height: width) : ImageFeature.Size(width: width, height: height)
    }
    if Set(sizes).count == 1 { stream.frameSize = sizes[0] }
    if stream.mostFramesAtOnce == nil, rates.isEmpty, !stream.isGoverned, stream.deadline == nil {
      // The model's threads are the limit.
      stream.mostFramesAtOnce = .max
    }
    return stream
  }

  /// Whether the frames of a source arrive at their own pace.
  public func isLive(_ source: Int) -> Bool { options.isLive ?? sources[source].facts.isLive }

  /// Ends the analysis soon: no more frames are read, and the answers to those in progress are delivered.
  public func cancel() {
    isCancelled.store(true, ordering: .releasing)
    sources.forEach { $0.cancel() }
  }

  /// Runs the analysis. An error of one source ends that source only.
  ///
  /// - Parameters:
  ///   - onAction: Receives the governor's changes.
  ///   - onEffect: Receives what the changes brought.
  ///   - handle: Receives the answers: those of one source in order, one at a time. While it runs, the next frame of
  ///     the source waits. An error ends the analysis.
  /// - Returns: How each source ended.
  /// - Throws: the error of `handle`; `ModelError` with code `device` if a device was lost and no other can replace it.
  public func run(
    onAction: (@Sendable (FrameStreamAction) -> Void)? = nil,
    onEffect: (@Sendable (FrameStreamEffect) -> Void)? = nil,
    _ handle: @escaping @Sendable (Answer) throws -> Void
  ) async throws -> [Outcome] {
    record { _, _ in }
    return try await withTaskCancellationHandler {
      let turns = sources.count > 1 ? StreamTurns() : nil
      return try await withThrowingTaskGroup(of: (Int, Outcome).self) { group in
        for index in sources.indices {
          group.addTask { try await (index, self.run(index, turns, onAction, onEffect, handle)) }
        }
        var outcomes = [Outcome?](repeating: nil, count: sources.count)
        do {
          for try await (index, outcome) in group { outcomes[index] = outcome }
        } catch {
          cancel()
          throw error
        }
        return outcomes.compactMap { $0 }
      }
    } onCancel: {
      cancel()
    }
  }

  private func run(
    _ index: Int, _ turns: StreamTurns?, _ onAction: (@Sendable (FrameStreamAction) -> Void)?,
    _ onEffect: (@Sendable (FrameStreamEffect) -> Void)?, _ handle: @escaping @Sendable (Answer) throws -> Void
  ) async throws -> Outcome {
    let reading = SourceReading(
      index, options, isLive: isLive(index), keepsImages: options.stream.keepsImages)
    var streamOptions = options.stream
    streamOptions.keepsImages = true
    if !isLive(index) { streamOptions.deadline = nil }
    let fault = Mutex<(any Error)?>(nil)
    let end = EndOfStream()
    let stream = FrameStream(
      request, streamOptions, setup, turns: turns,
      sink: FrameStreamSink(
        answer: { [self] answer in
          guard fault.withLock({ $0 == nil }) else { return }
          guard let image = answer.image else { return }
          let seen = reading.answer(answer, image)
          let heat = setup.heat(at: clock.now())
          record { record, now in
            record.add(seen, image, at: now)
            if let heat { record.add(heat, at: now) }
          }
          do { try handle(seen) } catch {
            fault.withLock { $0 = $0 ?? error }
            cancel()
          }
        }, end: { end.set($0) }))
    async let actions: () = {
      for await action in stream.actions {
        record { record, _ in record.add(action) }
        onAction?(action)
      }
    }()
    async let effects: () = {
      for await effect in stream.effects {
        record { record, _ in record.add(effect) }
        onEffect?(effect)
      }
    }()
    let error = await withCheckedContinuation { continuation in
      Self.readers.async { [self] in continuation.resume(returning: feed(stream, from: index)) }
    }
    let lost = await end.wait()
    await actions
    await effects
    if let error = fault.withLock({ $0 }) ?? lost { throw error }
    let outcome = Outcome(counts: stream.counts, error: error, remarks: sources[index].remarks)
    record { record, _ in record.finish(index, outcome) }
    return outcome
  }

  /// Returns the part of a source's frames that the request reads; nil if others use the frames.
  private func part(of facts: VideoFacts) -> PixelRect? {
    options.stream.keepsImages || options.keepsTrackImages ? nil : request.storedPart(of: facts)
  }

  /// The threads that read sources. They wait for most of the time.
  private static let readers = DispatchQueue(label: "kelvin.video-readers", attributes: .concurrent)

  /// Reads a source to its end and gives its frames to a stream. Blocks the calling thread.
  ///
  /// - Returns: the error that ended the source early.
  private func feed(_ stream: FrameStream<VideoObservations>, from index: Int) -> VideoError? {
    defer { stream.finish() }
    let (source, isLive) = (sources[index], isLive(index))
    // A pipe has the pace of the program that writes it.
    let isPaced = isLive && !source.facts.isLive && source.facts.kind != .pipe
    let began = clock.now()
    // A source that gives parts of its frames has no further use.
    let isPart = part(of: source.facts).map(source.decode(only:)) ?? false
    defer { if isPart { source.cancel() } }
    let end = options.duration.map { began + $0.inSeconds } ?? .infinity
    var first: Duration?
    do throws(VideoError) {
      while options.frameLimit.map({ stream.counts.pushed < $0 }) ?? true, clock.now() < end,
        !isCancelled.load(ordering: .acquiring), let frame = try source.next()
      {
        if isPaced {
          let due = began + (frame.time - (first ?? frame.time)).inSeconds
          first = first ?? frame.time
          guard due < end else { break }
          clock.sleep(until: due)
        }
        let isTaken =
          isLive
          ? stream.push(frame.image, orientation: frame.orientation, timestamp: frame.time)
          : stream.sendBlocking(frame.image, orientation: frame.orientation, timestamp: frame.time)
        guard isTaken else { break }
      }
      return nil
    } catch {
      return isCancelled.load(ordering: .acquiring) ? nil : error
    }
  }
}

/// The state of one source between its frames.
private final class SourceReading: Sendable {
  private struct State {
    var objects: ObjectTracker?
    var poses: PoseTracker?
    var classes: ClassificationSmoother?
  }

  private let index: Int
  private let isLive: Bool
  private let deadline: Duration?
  private let keepsImages: Bool
  private let state: Mutex<State>

  init(_ index: Int, _ options: VideoAnalysis.Options, isLive: Bool, keepsImages: Bool) {
    self.index = index
    self.isLive = isLive
    deadline = options.stream.deadline
    self.keepsImages = keepsImages
    state = Mutex(
      State(
        objects: options.tracks ? ObjectTracker(options.parameters) : nil,
        poses: options.tracks || options.smooths ? PoseTracker(options.parameters) : nil,
        classes: options.smooths ? ClassificationSmoother(options.parameters) : nil))
  }

  /// Returns the answer of an analysis for the answer of a stream.
  func answer(_ answer: FrameStream<VideoObservations>.Answer, _ image: PixelBuffer) -> VideoAnalysis.Answer {
    let size = ImageSize(image, answer.orientation)
    let time = answer.timestamp ?? answer.arrival
    let result: Result<VideoObservations, VisionError>
    switch answer.result {
    case .success(let observations): result = .success(followed(observations, in: size, at: time))
    case .failure(let error as VisionError): result = .failure(error)
    case .failure(let error): result = .failure(.prediction(ModelError(error)))
    }
    // A frame of a file has no age, because it is read as soon as another one is answered.
    let service = answer.end - answer.start
    let latency = isLive ? answer.latency : service
    return VideoAnalysis.Answer(
      source: index, frame: answer.number, time: time, latency: latency, service: service,
      isLate: deadline.map { latency > $0 } ?? false, setting: answer.setting, share: answer.share, size: size,
      result: result,
      image: keepsImages ? image : nil,
      orientation: answer.orientation)
  }

  private func followed(_ seen: VideoObservations, in size: ImageSize, at time: Duration) -> VideoObservations {
    state.withLock { state in
      switch seen {
      case .classes(let classes): .classes(state.classes?.update(classes, at: time) ?? classes)
      case .objects(let objects):
        .objects(state.objects?.update(objects.map(\.observation), in: size, at: time) ?? objects)
      case .poses(let poses): .poses(state.poses?.update(poses.map(\.observation), in: size, at: time) ?? poses)
      case .segments: seen
      }
    }
  }
}

/// The end of a stream, for one task that waits for it. The wait does not end when the task is cancelled, because the
/// frames in progress are still answered.
private final class EndOfStream: Sendable {
  private enum Phase {
    case open
    case waiting(CheckedContinuation<(any Error)?, Never>)
    case ended((any Error)?)
  }

  private let phase = Mutex(Phase.open)

  func set(_ error: (any Error)?) {
    let waiting = phase.withLock { phase -> CheckedContinuation<(any Error)?, Never>? in
      defer { phase = .ended(error) }
      if case .waiting(let continuation) = phase { return continuation }
      return nil
    }
    waiting?.resume(returning: error)
  }

  func wait() async -> (any Error)? {
    await withCheckedContinuation { continuation in
      let ended = phase.withLock { phase -> (any Error)?? in
        if case .ended(let error) = phase { return .some(error) }
        phase = .waiting(continuation)
        return nil
      }
      if let ended { continuation.resume(returning: ended) }
    }
  }
}
