package import KelvinMeasurements
import Synchronization

/// A worker that answers the frames of a stream in order, as `FrameQueue` selects them.
///
/// It occupies no thread while no frame waits: a push starts a job on an idle worker, which continues until no frame
/// waits. A push never blocks on an answer and may come from any thread; the queue limits the waiting frames. For any
/// interleaving of calls, of n accepted pushes
///
///     n = skipped + dropped + too late + abandoned + answered + waiting + in service
///
/// and after `end`, nothing waits, and nothing is in service for longer than the current answer takes to stop.
package final class FrameWorker<Payload: Sendable, Answer: Sendable>: Sendable {
  /// The outcome of a frame that was begun. Times are seconds on the worker's clock.
  package struct Outcome: Sendable {
    package let number: Int
    package let arrival: Double
    package let start: Double
    package let end: Double
    /// Whether the answer came after the deadline.
    package let isLate: Bool
    /// The setting with which the frame was answered.
    package let setting: GovernorSetting
    package let payload: Payload
    package let result: Result<Answer, any Error>
  }

  package struct Tally: Sendable, Hashable {
    package var queue: FrameQueue<Payload>.Tally
    /// The number of begun frames that were answered, including those with an error.
    package var answered: Int
    /// The number of answers after the deadline.
    package var late: Int
    package var waiting: Int
    package var inService: Int
    /// The number of begun frames that were abandoned with the stream.
    package var interrupted: Int
  }

  /// The functions of a worker. All except `start` are called on the thread of a job, one at a time.
  package struct Callbacks: Sendable {
    /// Runs a job on a thread that may block.
    package var start: @Sendable (_ job: @escaping @Sendable () -> Void) -> Void
    package var answer: @Sendable (Payload, GovernorSetting) throws -> Answer
    /// Receives each answer, in order.
    package var deliver: @Sendable (Outcome) -> Void
    /// Whether the stream cannot continue after an error.
    package var isFatal: @Sendable (any Error) -> Bool
    /// Returns the new setting; nil to keep it.
    package var adjust: @Sendable (Outcome) -> GovernorSetting?
    /// Called once, after the last answer was delivered or the stream was abandoned, with the error that ended it. Runs
    /// on the thread of a job, or of the call that ended the stream.
    package var end: @Sendable ((any Error)?) -> Void

    package init(
      start: @escaping @Sendable (_ job: @escaping @Sendable () -> Void) -> Void,
      answer: @escaping @Sendable (Payload, GovernorSetting) throws -> Answer,
      deliver: @escaping @Sendable (Outcome) -> Void,
      isFatal: @escaping @Sendable (any Error) -> Bool = { _ in false },
      adjust: @escaping @Sendable (Outcome) -> GovernorSetting? = { _ in nil },
      end: @escaping @Sendable ((any Error)?) -> Void
    ) {
      self.start = start
      self.answer = answer
      self.deliver = deliver
      self.isFatal = isFatal
      self.adjust = adjust
      self.end = end
    }
  }

  private enum Phase {
    case open
    /// Accepts no more frames and answers the waiting ones.
    case finishing
    case ended
  }

  private struct State {
    var queue: FrameQueue<Payload>
    var phase = Phase.open
    /// Whether a job runs or is about to.
    var hasJob = false
    var answered = 0
    var late = 0
    var inService = 0
    var interrupted = 0
  }

  private let state: Mutex<State>
  private let callbacks: Callbacks
  private let clock: any MeasurementClock

  /// - Parameter deadline: the seconds from a frame's arrival within which its answer is useful; nil for no limit.
  package init(
    setting: GovernorSetting = .init(), deadline: Double? = nil, clock: any MeasurementClock = SystemClock(),
    _ callbacks: Callbacks
  ) {
    state = Mutex(State(queue: FrameQueue(setting: setting, deadline: deadline)))
    self.callbacks = callbacks
    self.clock = clock
  }

  package var tally: Tally {
    state.withLock { state in
      Tally(
        queue: state.queue.tally, answered: state.answered, late: state.late, waiting: state.queue.waitingCount,
        inService: state.inService, interrupted: state.interrupted)
    }
  }

  /// Adds a frame. Never waits for an answer.
  ///
  /// - Returns: false if the stream has ended, and the frame was not accepted.
  @discardableResult
  package func push(_ payload: Payload) -> Bool {
    let (isAccepted, startsJob) = withState { state in
      guard state.phase == .open else { return (false, false) }
      // The time is read under the lock, so that frames are numbered in order of arrival.
      let waits = state.queue.push(payload, at: clock.now())
      guard waits, !state.hasJob else { return (true, false) }
      state.hasJob = true
      return (true, true)
    }
    if startsJob { callbacks.start { self.work() } }
    return isAccepted
  }

  /// Accepts no more frames, and ends the stream when the waiting ones are answered.
  package func finish() {
    let isOver = state.withLock { state in
      guard state.phase == .open else { return false }
      state.phase = state.hasJob ? .finishing : .ended
      return !state.hasJob
    }
    if isOver { callbacks.end(nil) }
  }

  /// Ends the stream at once: waiting frames are removed, and the frame in service is not delivered.
  package func end(_ error: (any Error)? = nil) {
    let wasOver = withState { state in
      if case .ended = state.phase { return true }
      state.phase = .ended
      state.queue.abandon()
      return false
    }
    if !wasOver { callbacks.end(error) }
  }

  private enum Next {
    case frame(FrameQueue<Payload>.Frame, GovernorSetting)
    case nothing(isOver: Bool)
  }

  /// Processes one frame per job, so that a stream that never catches up yields its thread between frames.
  private func work() {
    switch next() {
    case .frame(let frame, let setting):
      serve(frame, setting)
      callbacks.start { self.work() }
    case .nothing(let isOver):
      if isOver { callbacks.end(nil) }
    }
  }

  private func next() -> Next {
    withState { state in
      if let frame = state.queue.take(at: clock.now()) {
        state.inService = 1
        return .frame(frame, state.queue.setting)
      }
      state.hasJob = false
      guard state.phase == .finishing else { return .nothing(isOver: false) }
      state.phase = .ended
      return .nothing(isOver: true)
    }
  }

  private func serve(_ frame: FrameQueue<Payload>.Frame, _ setting: GovernorSetting) {
    let start = clock.now()
    let result = Result { try callbacks.answer(frame.payload, setting) }
    let end = clock.now()
    let outcome: Outcome? = state.withLock { state in
      state.inService = 0
      if case .ended = state.phase {
        state.interrupted += 1
        return nil
      }
      if case .success = result { state.queue.answered(in: end - start) }
      let isLate = state.queue.isLate(after: end - frame.arrival)
      state.answered += 1
      state.late += isLate ? 1 : 0
      return Outcome(
        number: frame.number, arrival: frame.arrival, start: start, end: end, isLate: isLate, setting: setting,
        payload: frame.payload, result: result)
    }
    guard let outcome else { return }
    callbacks.deliver(outcome)
    if case .failure(let error) = result, callbacks.isFatal(error) { return self.end(error) }
    guard let setting = callbacks.adjust(outcome) else { return }
    withState { $0.queue.setting = setting }
  }

  /// Changes the state under the lock, and releases the payloads that the queue removed outside of it.
  private func withState<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
    let (result, letGo) = state.withLock { state in
      let result = change(&state)
      return (result, state.queue.takeRemovedPayloads())
    }
    withExtendedLifetime(letGo) {}
    return result
  }
}
