#if Measuring
import KelvinEngine
public import KelvinFeatures
import KelvinStreams

extension FrameStream {
  /// What became of a frame that was begun. Seconds since the stream was made.
  public struct Answer: Sendable {
    /// How many frames were pushed before it.
    public let number: Int
    /// When it was pushed.
    public let arrival: Double
    /// When its prediction began.
    public let start: Double
    /// When its prediction was done.
    public let end: Double
    /// Whether that was after the deadline.
    public let isLate: Bool
    /// The way in which it was answered: `as planned`, or what the governor had changed to.
    public let setting: String
    /// The outputs, or why there are none.
    public let result: Result<DictionaryFeatureProvider, ModelError>

    /// Seconds from the frame's arrival to its answer.
    public var latency: Double { end - arrival }

    /// The outputs.
    ///
    /// - Throws: the frame's error.
    public func features() throws(ModelError) -> DictionaryFeatureProvider { try result.get() }
  }

  /// Something that the governor did.
  public struct Action: Hashable, Sendable, CustomStringConvertible {
    /// Seconds since the stream was made.
    public let time: Double
    /// In words: `plan '1 CPU thread' instead of 'as planned'`.
    public let change: String
    /// In words: `fair, headroom 0.78, at the limit in 42 s`.
    public let cause: String
    /// Away from heat, or back.
    public let isReturn: Bool
    /// The way in which frames are answered from now on.
    public let setting: String
    /// The share of the frames that is taken from now on, above 0, at most 1.
    public let share: Double
    /// Frames that may wait from now on.
    public let queue: Int

    /// Change and cause in one line.
    public var description: String { "\(change): \(cause)" }
  }

  /// What has become of a stream's frames. At every moment `pushed` is the sum of `skipped`, `dropped`, `tooLate`,
  /// `answered`, `abandoned` and `pending`.
  public struct Counts: Hashable, Sendable {
    /// Frames that were let in.
    public let pushed: Int
    /// Left out by the governor.
    public let skipped: Int
    /// Pushed out by newer ones.
    public let dropped: Int
    /// Not begun, because the answer would have come after the deadline.
    public let tooLate: Int
    /// Answered, in time or late, with outputs or an error.
    public let answered: Int
    /// Of those answered, the ones after the deadline.
    public let late: Int
    /// Given up with the stream.
    public let abandoned: Int
    /// Waiting or being answered.
    public let pending: Int
    /// Answers and actions that were pushed out of their buffers because nobody had read them.
    public let unread: Int
  }
}

extension FrameStream.Answer {
  init(
    _ outcome: FrameWorker<any FeatureProvider, DictionaryFeatureProvider>.Outcome, since began: Double, plan: String
  ) {
    number = outcome.number
    arrival = outcome.arrival - began
    start = outcome.start - began
    end = outcome.end - began
    isLate = outcome.isLate
    setting = plan
    result = outcome.result.mapError { ModelError($0) }
  }
}

extension FrameStream.Action {
  init(_ action: GovernorAction, since began: Double, labels: [String]) {
    time = action.at - began
    change = action.what
    cause = action.cause
    isReturn = action.isReturn
    setting = labels[action.setting.plan]
    share = action.setting.rate
    queue = action.setting.queue
  }
}

extension FrameStream.Counts {
  init(_ tally: FrameWorker<any FeatureProvider, DictionaryFeatureProvider>.Tally, lost: Int) {
    pushed = tally.queue.arrived
    skipped = tally.queue.skipped
    dropped = tally.queue.dropped
    tooLate = tally.queue.tooLate
    answered = tally.answered
    late = tally.late
    abandoned = tally.queue.abandoned + tally.interrupted
    pending = tally.waiting + tally.inService
    unread = lost
  }
}
#endif
