package import KelvinMeasurements
package import KelvinStreams

/// A slice of a sustained load: frames that arrive at a fixed rate, or inferences at the highest rate.
package struct FrameSlice: Sendable, Hashable, Codable {
  package struct Frame: Sendable, Hashable, Codable {
    /// Seconds from the beginning of the slice.
    package var arrival: Double
    package var start: Double
    package var end: Double
    /// The index of the plan in the governor's ladder; nil for the configuration's own plan.
    package var plan: Int?
    /// The seconds of `service` that reading the frame took, conversion included; nil for a stream of one input.
    package var reading: Double?

    package init(arrival: Double, start: Double, end: Double, plan: Int = 0, reading: Double? = nil) {
      self.arrival = arrival
      self.start = start
      self.end = end
      self.plan = plan == 0 ? nil : plan
      self.reading = reading
    }

    /// Seconds from arrival to answer.
    package var latency: Double { end - arrival }
    package var service: Double { end - start }
  }

  /// The answered frames, in the order of their answers.
  package private(set) var frames: [Frame] = []
  /// Frames that newer ones displaced.
  package private(set) var dropped = 0
  /// Frames that a governor skipped.
  package private(set) var skipped = 0
  /// Seconds from the beginning to the end of the last frame, or of the slice if that is later.
  package private(set) var elapsed = 0.0
  /// Seconds per answered frame.
  package private(set) var secondsPerFrame = 0.0

  package init() {}

  /// Runs a paced slice, until both its arrival intervals and its last answer have ended. After an error, the
  /// measurements so far are kept.
  ///
  /// - Parameters:
  ///   - count: the number of arrivals.
  ///   - rate: arrivals per second; the first arrives at once.
  ///   - setting: returns the governor's setting before each frame: how many frames may wait, and which arrivals are
  ///     taken.
  ///   - first: the index of the first arrival for `setting`.
  ///   - read: reads the frame that is answered next, after passing over the given number of frames that were dropped
  ///     or skipped before it; nil for a stream of one input.
  ///   - infer: runs one inference and returns when it has finished.
  ///   - pause: called between frames with the slice so far.
  package mutating func runPaced<Failure: Error>(
    arrivals count: Int, rate: Double, first: Int = 0, setting: () -> GovernorSetting, clock: any MeasurementClock,
    read: ((_ passingOver: Int) throws(Failure) -> Void)? = nil, infer: () throws(Failure) -> Void,
    pause: (_ now: Double, FrameSlice) -> Void = { _, _ in }
  ) throws(Failure) {
    let begin = clock.now()
    var next = first
    var arrivals = PacedArrivals(rate: rate, count: count)
    var queue = FrameQueue<Void>(setting: setting(), first: first)
    var isOver = false
    defer { finish(isOver ? max(Double(count) / rate, frames.last?.end ?? 0) : clock.now() - begin) }
    while true {
      var slept = 0.0
      if queue.isEmpty, let due = arrivals.due {
        clock.sleep(until: begin + due)
        slept = due
      }
      queue.setting = setting()
      // A clock that wakes slightly early must still admit the frame that was waited for.
      arrivals.admit(until: max(slept, clock.now() - begin), to: &queue)
      (dropped, skipped) = (queue.tally.dropped, queue.tally.skipped)
      let start = clock.now() - begin
      guard let frame = queue.take(at: start) else {
        if arrivals.due != nil { continue }
        isOver = true
        return
      }
      let plan = queue.setting.plan
      var reading: Double?
      if let read {
        try read(frame.number - next)
        reading = clock.now() - begin - start
        next = frame.number + 1
      }
      try infer()
      frames.append(
        Frame(arrival: frame.arrival, start: start, end: clock.now() - begin, plan: plan, reading: reading))
      pause(clock.now(), self)
    }
  }

  /// Creates a slice from the answers of a pipeline.
  ///
  /// The rate is computed from the first `inFlight` answers to the last answer within `seconds`. Filling and draining
  /// the pipeline do not count, nor do answers that arrive together.
  ///
  /// - Parameters:
  ///   - answers: in seconds from the beginning of the slice, in any order.
  ///   - inFlight: the number of concurrent inferences, at least 1.
  package init(pipelined answers: [Frame], inFlight: Int, seconds: Double) {
    frames = answers.sorted { $0.end < $1.end }
    finish(frames.last?.end ?? seconds)
    let counted = frames.filter { $0.end <= seconds }
    if counted.count > inFlight, counted[counted.count - 1].end > counted[inFlight - 1].end {
      secondsPerFrame =
        (counted[counted.count - 1].end - counted[inFlight - 1].end) / Double(counted.count - inFlight)
    }
  }

  /// Creates a slice from frames timed elsewhere, in the order of their answers.
  init(_ frames: [Frame], elapsed: Double, secondsPerFrame: Double) {
    self.frames = frames
    self.elapsed = elapsed
    self.secondsPerFrame = secondsPerFrame
  }

  /// Returns the answers per second so far; nil before the first.
  ///
  /// - Parameter arrivalsPerSecond: the rate of a paced slice, whose first frame arrives at once. Each arrival counts as
  ///   one interval, so that the rate of a young slice does not exceed that of the arrivals.
  package func rate(arrivalsPerSecond: Double?) -> Double? {
    guard let last = frames.last else { return nil }
    let arrived = arrivalsPerSecond.map { Double(frames.count + dropped + skipped) / $0 } ?? 0
    return Double(frames.count) / max(last.end, arrived, 1e-9)
  }

  private mutating func finish(_ elapsed: Double) {
    self.elapsed = max(0, elapsed)
    secondsPerFrame = self.elapsed / Double(max(frames.count, 1))
  }
}
