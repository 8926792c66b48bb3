import Kelvin
import KelvinBasics
import KelvinEngine
import KelvinFeatures
public import KelvinImages
import KelvinStreams
import Synchronization

extension FrameStream {
  /// The result of a frame whose prediction began. Times are those since the stream was created.
  public struct Answer: Sendable {
    /// The number of frames pushed before this one.
    public let number: Int
    /// The caller's time of the frame; nil if none was given.
    public let timestamp: Duration?
    /// The time at which the frame was pushed.
    public let arrival: Duration
    /// The time at which the prediction began.
    public let start: Duration
    /// The time at which the prediction ended.
    public let end: Duration
    /// Whether the prediction ended after the deadline.
    public let isLate: Bool
    /// The setting used for the frame: `as planned`, or a setting that the governor chose.
    public let setting: String
    /// The fraction of frames that the governor accepted then, above 0 and at most 1.
    public let share: Double
    /// The output, or the error.
    public let result: Result<Output, any Error>
    /// The frame's image, with ``FrameStreamOptions/keepsImages``; nil otherwise.
    public let image: PixelBuffer?
    /// The orientation of the image's stored pixels.
    public let orientation: ImageOrientation

    /// The time from the frame's arrival to its result.
    public var latency: Duration { end - arrival }

    init(
      _ outcome: FrameWorker<StreamedFrame, Output>.Outcome, since began: Double, plan: String, keepsImage: Bool
    ) {
      number = outcome.number
      timestamp = outcome.payload.timestamp
      arrival = Duration.limited(seconds: outcome.arrival - began)
      start = Duration.limited(seconds: outcome.start - began)
      end = Duration.limited(seconds: outcome.end - began)
      isLate = outcome.isLate
      setting = plan
      share = outcome.setting.rate
      result = outcome.result
      if keepsImage, case .image(let image, let orientation, _) = outcome.payload.content {
        (self.image, self.orientation) = (image, orientation)
      } else {
        (image, orientation) = (nil, .up)
      }
    }
  }
}

/// A change that a stream's governor made.
public struct FrameStreamAction: Hashable, Sendable, CustomStringConvertible {
  /// The time since the stream was created.
  public let time: Duration
  /// A description such as `plan '1 CPU thread' instead of 'as planned'`.
  public let change: String
  /// The reason, such as `fair, heat is 0.78 of the limit and would reach it in 42 s`.
  public let cause: String
  /// Whether the change returns towards the preferred setting, because the machine has cooled.
  public let isReturn: Bool
  /// The setting for frames from now on.
  public let setting: String
  /// The fraction of frames that are accepted from now on, above 0 and at most 1.
  public let share: Double
  /// The number of frames that may wait from now on.
  public let queue: Int
  /// The time on the clock of simulated heat; nil without simulated heat.
  package let heatTime: Duration?
  /// The time in seconds on the clock of all streams with the same governor.
  package let clockTime: Double

  /// The change and its cause in one line.
  public var description: String { "\(change): \(cause)" }

  /// The time, the change and its cause as sentences.
  package var line: String {
    let heat = heatTime.map { " (\(HumanReadable.seconds($0.inSeconds)) of simulated heat)" } ?? ""
    return "at \(moment)\(heat): \(change). \(cause.prefix(1).uppercased())\(cause.dropFirst())"
  }

  fileprivate var moment: String { HumanReadable.seconds(time.inSeconds) }

  init(_ action: GovernorAction, since began: Double, labels: [String], heatSpeed: Double?) {
    time = Duration.limited(seconds: action.at - began)
    clockTime = action.at
    heatTime = heatSpeed.map { Duration.limited(seconds: (action.at - began) * $0) }
    change = action.what
    cause = action.cause
    isReturn = action.isReturn
    setting = labels[action.setting.plan]
    share = action.setting.rate
    queue = action.setting.queue
  }
}

/// The effect of a change of a stream's governor, measured before and after it.
public struct FrameStreamEffect: Hashable, Sendable, CustomStringConvertible {
  /// The change.
  public let action: FrameStreamAction
  /// The measured differences, such as `29.9 to 15 answers/s, 33 to 31 ms each, machine 7.8 to 4.1 W`; or the reason
  /// why the effect was not measured, such as `not measured: the next step came after 200 ms`.
  public let description: String
  private let isMeasured: Bool

  /// The description with its kind.
  package var text: String { isMeasured ? "measured: \(description)" : description }

  /// The description with the time of the change.
  package var line: String { "the step at \(action.moment), \(text)" }

  init(
    _ effect: (action: GovernorAction, effect: StepEffect), since began: Double, labels: [String], heatSpeed: Double?
  ) {
    action = FrameStreamAction(effect.action, since: began, labels: labels, heatSpeed: heatSpeed)
    isMeasured = effect.effect.isMeasured
    description = isMeasured ? effect.effect.text : "not measured: \(effect.effect.text)"
  }
}

/// The counts of a stream's frames. At every moment `pushed` is the sum of `skipped`, `dropped`, `tooLate`,
/// `answered`, `abandoned` and `pending`.
public struct FrameStreamCounts: Hashable, Sendable {
  /// Frames that were accepted by `push`.
  public let pushed: Int
  /// Frames that the governor left out.
  public let skipped: Int
  /// Frames that were dropped for newer ones.
  public let dropped: Int
  /// Frames that were not begun, because the result would have been late.
  public let tooLate: Int
  /// Frames with a result, in time or late, with outputs or an error.
  public let answered: Int
  /// Frames with a result after the deadline.
  public let late: Int
  /// Frames abandoned when the stream ended.
  public let abandoned: Int
  /// Frames that are waiting or being predicted.
  public let pending: Int
  /// Answers and actions that were dropped from their buffers unread.
  public let unread: Int

  init<Payload, Output>(_ tally: FrameWorker<Payload, Output>.Tally, unread: Int) {
    pushed = tally.queue.arrived
    skipped = tally.queue.skipped
    dropped = tally.queue.dropped
    tooLate = tally.queue.tooLate
    answered = tally.answered
    late = tally.late
    abandoned = tally.queue.abandoned + tally.interrupted
    pending = tally.waiting + tally.inService
    self.unread = unread
  }
}

/// The number of actions that were dropped unread.
final class UnreadCount: Sendable {
  private let counted = Atomic(0)

  var value: Int { counted.load(ordering: .relaxed) }

  func count<Element>(_ result: AsyncStream<Element>.Continuation.YieldResult) {
    if case .dropped = result { counted.add(1, ordering: .relaxed) }
  }
}

/// A weak reference to a stream's worker, set once the worker exists.
final class WorkerReference<Output: Sendable>: Sendable {
  private struct Reference {
    weak var worker: FrameWorker<StreamedFrame, Output>?
  }

  private let reference = Mutex(Reference())

  func set(_ worker: FrameWorker<StreamedFrame, Output>) { reference.withLock { $0.worker = worker } }
  func end() { reference.withLock { $0.worker }?.end() }
}

/// The turns of streams that share a model: one stream after the other begins a frame. As many frames are answered at
/// the same time as the present plan has lanes.
package final class StreamTurns: Sendable {
  private struct State {
    var waiting: [@Sendable () -> Void] = []
    var running = 0
    var lanes = 1
  }

  private let state = Mutex(State())

  package init() {}

  /// The number of frames at the same time.
  var lanes: Int {
    get { state.withLock { $0.lanes } }
    set {
      state.withLock { $0.lanes = newValue }
      begin()
    }
  }

  func take(_ job: @escaping @Sendable () -> Void) {
    let budget = WorkBudget.current
    state.withLock { $0.waiting.append { WorkBudget.governing(budget, job) } }
    begin()
  }

  private func begin() {
    while let job = next() {
      BlockingWork.start { [self] in
        job()
        state.withLock { $0.running -= 1 }
        begin()
      }
    }
  }

  private func next() -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard state.running < state.lanes, !state.waiting.isEmpty else { return nil }
      state.running += 1
      return state.waiting.removeFirst()
    }
  }
}
