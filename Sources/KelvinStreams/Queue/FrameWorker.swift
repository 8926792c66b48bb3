package import KelvinMeasurements
import Synchronization

/// One worker that answers the frames of a stream, in order, as `FrameQueue` hands them out.
///
/// It holds no thread while nothing waits: a push that finds it idle starts a job, which works until nothing waits any
/// more. Pushing never blocks on an answer and may be done from any number of threads; what is waiting is bounded by the
/// queue. However the calls fall, of n pushes that were let in
///
///     n = skipped + dropped + too late + abandoned + answered + waiting + in service
///
/// and once `end` was called, nothing waits or is in service for longer than the answer being made takes to give up.
package final class FrameWorker<Payload: Sendable, Answer: Sendable>: Sendable {
  /// What became of a frame that was begun. Seconds on the worker's clock.
  package struct Outcome: Sendable {
    package let number: Int
    package let arrival: Double
    package let start: Double
    package let end: Double
    /// Whether the answer came after the deadline.
    package let isLate: Bool
    /// By which it was answered.
    package let setting: GovernorSetting
    package let result: Result<Answer, any Error>
  }

  package struct Tally: Sendable, Hashable {
    package var queue: FrameQueue<Payload>.Tally
    /// Of those begun, the ones that were answered, also with an error.
    package var answered: Int
    /// Of those answered, the ones after the deadline.
    package var late: Int
    package var waiting: Int
    package var inService: Int
    /// Begun, and given up with the stream.
    package var interrupted: Int
  }

  /// What a worker is made of. All but `start` are called on the thread of a job, one at a time.
  package struct Parts: Sendable {
    /// Runs a job on a thread that may block.
    package var start: @Sendable (_ job: @escaping @Sendable () -> Void) -> Void
    package var answer: @Sendable (Payload, GovernorSetting) throws -> Answer
    /// Takes each answer, in order.
    package var deliver: @Sendable (Outcome) -> Void
    /// Whether a stream cannot go on after an error.
    package var isFatal: @Sendable (any Error) -> Bool
    /// The setting from now on; nil to leave it.
    package var adjust: @Sendable (Outcome) -> GovernorSetting?
    /// Called once, when the last answer was delivered or the stream was given up; with what ended it. On the thread
    /// of a job, or of the call that ended it.
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
    /// Takes no more frames, answers those that wait.
    case finishing
    case ended
  }

  private struct State {
    var queue: FrameQueue<Payload>
    var phase = Phase.open
    /// Whether a job is at work, or about to be.
    var hasJob = false
    var answered = 0
    var late = 0
    var inService = 0
    var interrupted = 0
  }

  private let state: Mutex<State>
  private let parts: Parts
  private let clock: any MeasurementClock

  /// - Parameter deadline: seconds from a frame's arrival in which its answer is of use; nil for any time.
  package init(
    setting: GovernorSetting = .init(), deadline: Double? = nil, clock: any MeasurementClock = SystemClock(),
    _ parts: Parts
  ) {
    state = Mutex(State(queue: FrameQueue(setting: setting, deadline: deadline)))
    self.parts = parts
    self.clock = clock
  }

  package var tally: Tally {
    state.withLock { state in
      Tally(
        queue: state.queue.tally, answered: state.answered, late: state.late, waiting: state.queue.waitingCount,
        inService: state.inService, interrupted: state.interrupted)
    }
  }

  /// Lets a frame in. Never waits for an answer.
  ///
  /// - Returns: false where the stream is over: it was not let in.
  @discardableResult
  package func push(_ payload: Payload) -> Bool {
    let (isLetIn, startsJob) = withState { state in
      guard state.phase == .open else { return (false, false) }
      // Under the lock, so that frames are numbered as they arrived.
      let waits = state.queue.push(payload, at: clock.now())
      guard waits, !state.hasJob else { return (true, false) }
      state.hasJob = true
      return (true, true)
    }
    if startsJob { parts.start { self.work() } }
    return isLetIn
  }

  /// Lets no more frames in, and ends when those that wait are answered.
  package func finish() {
    let isOver = state.withLock { state in
      guard state.phase == .open else { return false }
      state.phase = state.hasJob ? .finishing : .ended
      return !state.hasJob
    }
    if isOver { parts.end(nil) }
  }

  /// Ends at once: what waits is let go, and of the frame in service nothing is heard any more.
  package func end(_ error: (any Error)? = nil) {
    let wasOver = withState { state in
      if case .ended = state.phase { return true }
      state.phase = .ended
      state.queue.abandon()
      return false
    }
    if !wasOver { parts.end(error) }
  }

  private enum Next {
    case frame(FrameQueue<Payload>.Frame, GovernorSetting)
    case nothing(isOver: Bool)
  }

  /// One frame a job, so that a stream which never catches up leaves its thread to others now and then.
  private func work() {
    switch next() {
    case .frame(let frame, let setting):
      serve(frame, setting)
      parts.start { self.work() }
    case .nothing(let isOver):
      if isOver { parts.end(nil) }
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
    let result = Result { try parts.answer(frame.payload, setting) }
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
        result: result)
    }
    guard let outcome else { return }
    parts.deliver(outcome)
    if case .failure(let error) = result, parts.isFatal(error) { return self.end(error) }
    guard let setting = parts.adjust(outcome) else { return }
    withState { $0.queue.setting = setting }
  }

  /// Changes the state under the lock, and releases the payloads that the queue let go outside of it.
  private func withState<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
    let (result, letGo) = state.withLock { state in
      let result = change(&state)
      return (result, state.queue.takeLetGo())
    }
    withExtendedLifetime(letGo) {}
    return result
  }
}
