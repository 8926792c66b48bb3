package import KelvinMeasurements
import Synchronization

/// A worker that answers the frames of a stream, as `FrameQueue` selects them, and delivers the answers in order.
///
/// It occupies no thread while no frame waits: a push starts a job on an idle worker, which continues until no frame
/// waits. A plan of l lanes answers up to l frames at the same time. An answer that is ready before an older one waits
/// for it, and counts as in service until it is delivered; at most 2 l − 1 frames are. A push never blocks on an answer
/// and may come from any thread; the queue limits the waiting frames. For any interleaving of calls, of n accepted pushes
///
///     n = skipped + dropped + too late + abandoned + answered + waiting + in service
///
/// and after `end`, nothing waits, and nothing is in service for longer than the current answers take to stop.
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

  /// The functions of a worker. All except `start` are called on the threads of jobs. `answer` is called for as many
  /// frames at the same time as the plan has lanes, the others one at a time.
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
    /// The jobs that run or are about to.
    var jobs = 0
    var begun = 0
    var answered = 0
    var late = 0
    var inService = 0
    var interrupted = 0
    /// Outcomes that are not delivered yet, by the number of frames begun before theirs.
    var ready: [Int: Outcome] = [:]
    /// The number of frames begun before the one to deliver next.
    var next = 0
    var isDelivering = false
  }

  private let state: Mutex<State>
  private let lanes: [Int]
  private let callbacks: Callbacks
  private let clock: any MeasurementClock

  /// - Parameters:
  ///   - deadline: the seconds from a frame's arrival within which its answer is useful; nil for no limit.
  ///   - lanes: by plan, the number of frames that are answered at the same time; 1 for plans without an entry.
  package init(
    setting: GovernorSetting = .init(), deadline: Double? = nil, lanes: [Int] = [],
    clock: any MeasurementClock = SystemClock(), _ callbacks: Callbacks
  ) {
    state = Mutex(State(queue: FrameQueue(setting: setting, deadline: deadline)))
    self.lanes = lanes
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
      state.queue.push(payload, at: clock.now())
      return (true, addsJob(&state))
    }
    if startsJob { callbacks.start { self.work() } }
    return isAccepted
  }

  /// The number of frames that the present plan answers at the same time.
  private func lanes(_ state: borrowing State) -> Int {
    let plan = state.queue.setting.plan
    return lanes.indices.contains(plan) ? max(1, lanes[plan]) : 1
  }

  /// Whether another frame may be begun.
  private func hasRoom(_ state: borrowing State) -> Bool { state.inService < 2 * lanes(state) - 1 }

  /// Counts one more job if a waiting frame can be begun by it.
  private func addsJob(_ state: inout State) -> Bool {
    guard !state.queue.isEmpty, state.jobs < lanes(state), hasRoom(state) else { return false }
    state.jobs += 1
    return true
  }

  /// Accepts no more frames, and ends the stream when the waiting ones are answered.
  package func finish() {
    let isOver = state.withLock { state in
      guard state.phase == .open else { return false }
      state.phase = state.jobs > 0 ? .finishing : .ended
      return state.jobs == 0
    }
    if isOver { callbacks.end(nil) }
  }

  /// Ends the stream at once: waiting frames are removed, and the frames in service are not delivered.
  package func end(_ error: (any Error)? = nil) {
    // Payloads are released outside of the lock.
    let (wasOver, undelivered) = withState { state -> (Bool, [Int: Outcome]) in
      if case .ended = state.phase { return (true, [:]) }
      state.phase = .ended
      state.queue.abandon()
      let undelivered = state.ready
      state.ready = [:]
      state.inService -= undelivered.count
      state.interrupted += undelivered.count
      return (false, undelivered)
    }
    withExtendedLifetime(undelivered) {}
    if !wasOver { callbacks.end(error) }
  }

  private enum Next {
    /// - Parameter index: the number of frames begun before.
    case frame(FrameQueue<Payload>.Frame, index: Int, GovernorSetting)
    case nothing(isOver: Bool)
  }

  /// Processes one frame per job, so that a stream that never catches up yields its thread between frames.
  private func work() {
    switch next() {
    case .frame(let frame, let index, let setting):
      serve(frame, index, setting)
      callbacks.start { self.work() }
    case .nothing(let isOver):
      if isOver { callbacks.end(nil) }
    }
  }

  private func next() -> Next {
    withState { state in
      if state.jobs <= lanes(state), hasRoom(state), let frame = state.queue.take(at: clock.now()) {
        state.inService += 1
        state.begun += 1
        return .frame(frame, index: state.begun - 1, state.queue.setting)
      }
      state.jobs -= 1
      // Answers are delivered by jobs, so without one all are.
      guard state.phase == .finishing, state.jobs == 0 else { return .nothing(isOver: false) }
      state.phase = .ended
      return .nothing(isOver: true)
    }
  }

  private func serve(_ frame: FrameQueue<Payload>.Frame, _ index: Int, _ setting: GovernorSetting) {
    let start = clock.now()
    let result = Result { try callbacks.answer(frame.payload, setting) }
    let end = clock.now()
    let delivers = state.withLock { state in
      if case .ended = state.phase {
        state.inService -= 1
        state.interrupted += 1
        return false
      }
      if case .success = result { state.queue.answered(in: end - start) }
      state.ready[index] = Outcome(
        number: frame.number, arrival: frame.arrival, start: start, end: end,
        isLate: state.queue.isLate(after: end - frame.arrival), setting: setting, payload: frame.payload,
        result: result)
      defer { state.isDelivering = true }
      return !state.isDelivering
    }
    if delivers { deliver() }
  }

  /// Delivers the outcomes that are ready, in order.
  private func deliver() {
    while let outcome = nextOutcome() {
      callbacks.deliver(outcome)
      if case .failure(let error) = outcome.result, callbacks.isFatal(error) {
        end(error)
        continue
      }
      let setting = callbacks.adjust(outcome)
      let startsJob = withState { state in
        if let setting { state.queue.setting = setting }
        return addsJob(&state)
      }
      if startsJob { callbacks.start { self.work() } }
    }
  }

  /// Returns the outcome to deliver next; nil if it is not ready, and then another job delivers it.
  private func nextOutcome() -> Outcome? {
    state.withLock { state in
      guard let outcome = state.ready.removeValue(forKey: state.next) else {
        state.isDelivering = false
        return nil
      }
      state.next += 1
      state.inService -= 1
      state.answered += 1
      state.late += outcome.isLate ? 1 : 0
      return outcome
    }
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
