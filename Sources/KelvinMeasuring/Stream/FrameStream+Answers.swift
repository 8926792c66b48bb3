import Kelvin
import KelvinBasics
import KelvinEngine
public import KelvinFeatures
import KelvinStreams

extension FrameStream {
  /// The result of a frame whose prediction began. Times are those since the stream was created.
  public struct Answer: Sendable {
    /// The number of frames pushed before this one.
    public let number: Int
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
    /// The outputs, or the error.
    public let result: Result<DictionaryFeatureProvider, ModelError>

    /// The time from the frame's arrival to its result.
    public var latency: Duration { end - arrival }

    /// Returns the outputs.
    ///
    /// - Throws: the frame's error.
    public func features() throws(ModelError) -> DictionaryFeatureProvider { try result.get() }
  }

  /// A change that the governor made.
  public struct Action: Hashable, Sendable, CustomStringConvertible {
    /// The time since the stream was created.
    public let time: Duration
    /// A description such as `plan '1 CPU thread' instead of 'as planned'`.
    public let change: String
    /// The reason, such as `fair, headroom 0.78, at the limit in 42 s`.
    public let cause: String
    /// Whether the change returns towards the preferred setting, because the machine has cooled.
    public let isReturn: Bool
    /// The setting for frames from now on.
    public let setting: String
    /// The fraction of frames that are accepted from now on, above 0 and at most 1.
    public let share: Double
    /// The number of frames that may wait from now on.
    public let queue: Int

    /// The change and its cause in one line.
    public var description: String { "\(change): \(cause)" }
  }

  /// The counts of a stream's frames. At every moment `pushed` is the sum of `skipped`, `dropped`, `tooLate`,
  /// `answered`, `abandoned` and `pending`.
  public struct Counts: Hashable, Sendable {
    let tally: FrameWorker<any FeatureProvider, DictionaryFeatureProvider>.Tally

    /// Frames that were accepted by `push`.
    public var pushed: Int { tally.queue.arrived }
    /// Frames that the governor left out.
    public var skipped: Int { tally.queue.skipped }
    /// Frames that were dropped for newer ones.
    public var dropped: Int { tally.queue.dropped }
    /// Frames that were not begun, because the result would have been late.
    public var tooLate: Int { tally.queue.tooLate }
    /// Frames with a result, in time or late, with outputs or an error.
    public var answered: Int { tally.answered }
    /// Frames with a result after the deadline.
    public var late: Int { tally.late }
    /// Frames abandoned when the stream ended.
    public var abandoned: Int { tally.queue.abandoned + tally.interrupted }
    /// Frames that are waiting or being predicted.
    public var pending: Int { tally.waiting + tally.inService }
    /// Answers and actions that were dropped from their buffers unread.
    public let unread: Int
  }
}

extension FrameStream.Answer {
  init(
    _ outcome: FrameWorker<any FeatureProvider, DictionaryFeatureProvider>.Outcome, since began: Double, plan: String
  ) {
    number = outcome.number
    arrival = Duration.limited(seconds: outcome.arrival - began)
    start = Duration.limited(seconds: outcome.start - began)
    end = Duration.limited(seconds: outcome.end - began)
    isLate = outcome.isLate
    setting = plan
    result = outcome.result.mapError { ModelError($0) }
  }
}

extension FrameStream.Action {
  init(_ action: GovernorAction, since began: Double, labels: [String]) {
    time = Duration.limited(seconds: action.at - began)
    change = action.what
    cause = action.cause
    isReturn = action.isReturn
    setting = labels[action.setting.plan]
    share = action.setting.rate
    queue = action.setting.queue
  }
}
