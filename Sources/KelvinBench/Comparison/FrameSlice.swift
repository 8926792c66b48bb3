package import KelvinMeasurements
package import KelvinStreams

/// One stretch of a load that goes on: frames that arrive by the clock, or as many as will go.
package struct FrameSlice: Sendable, Hashable, Codable {
  package struct Frame: Sendable, Hashable, Codable {
    /// Seconds from the beginning of the slice.
    package var arrival: Double
    package var start: Double
    package var end: Double
    /// The plan of the governor's ladder that answered it; nil for the configuration's own.
    package var plan: Int?

    package init(arrival: Double, start: Double, end: Double, plan: Int = 0) {
      self.arrival = arrival
      self.start = start
      self.end = end
      self.plan = plan == 0 ? nil : plan
    }

    /// What the one who waits for the answer sees.
    package var latency: Double { end - arrival }
    package var service: Double { end - start }
  }

  /// Those that were answered, in the order of their answers.
  package private(set) var frames: [Frame] = []
  /// Frames that newer ones pushed out.
  package private(set) var dropped = 0
  /// Frames that a governor did not take.
  package private(set) var skipped = 0
  /// Seconds from the beginning to the end of the last frame, or of the slice where that is later.
  package private(set) var elapsed = 0.0
  /// Seconds for each frame that was answered.
  package private(set) var secondsPerFrame = 0.0

  package init() {}

  /// Runs a paced slice, as long as the intervals between its arrivals or its last answer. What has been measured
  /// stands when an error ends it.
  ///
  /// - Parameters:
  ///   - count: arrivals.
  ///   - rate: arrivals a second; the first comes at once.
  ///   - setting: asked before each frame: how many may wait, older ones being dropped, and which arrivals are taken.
  ///   - first: the number that the first arrival has for `setting`.
  ///   - infer: one inference; returns when it is done.
  ///   - pause: called between frames, for looking around at the slice so far.
  package mutating func runPaced<Failure: Error>(
    arrivals count: Int, rate: Double, first: Int = 0, setting: () -> GovernorSetting, clock: any MeasurementClock,
    infer: () throws(Failure) -> Void, pause: (_ now: Double, FrameSlice) -> Void = { _, _ in }
  ) throws(Failure) {
    let begin = clock.now()
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
      // A clock that returns a little early must not lose the frame it slept for.
      arrivals.admit(until: max(slept, clock.now() - begin), to: &queue)
      (dropped, skipped) = (queue.tally.dropped, queue.tally.skipped)
      let start = clock.now() - begin
      guard let frame = queue.take(at: start) else {
        if arrivals.due != nil { continue }
        isOver = true
        return
      }
      let plan = queue.setting.plan
      try infer()
      frames.append(Frame(arrival: frame.arrival, start: start, end: clock.now() - begin, plan: plan))
      pause(clock.now(), self)
    }
  }

  /// Takes over what a pipeline did.
  ///
  /// The rate is counted from the first answers, one of each in flight, to the last within `seconds`: neither filling nor
  /// emptying the pipeline counts, nor answers that come together.
  ///
  /// - Parameters:
  ///   - answers: seconds from the beginning of the slice; in any order.
  ///   - inFlight: how many are worked on at a time, at least 1.
  package init(pipelined answers: [Frame], inFlight: Int, seconds: Double) {
    frames = answers.sorted { $0.end < $1.end }
    finish(frames.last?.end ?? seconds)
    let counted = frames.filter { $0.end <= seconds }
    if counted.count > inFlight, counted[counted.count - 1].end > counted[inFlight - 1].end {
      secondsPerFrame =
        (counted[counted.count - 1].end - counted[inFlight - 1].end) / Double(counted.count - inFlight)
    }
  }

  /// Frames that somebody timed, in the order of their answers.
  init(_ frames: [Frame], elapsed: Double, secondsPerFrame: Double) {
    self.frames = frames
    self.elapsed = elapsed
    self.secondsPerFrame = secondsPerFrame
  }

  private mutating func finish(_ elapsed: Double) {
    self.elapsed = max(0, elapsed)
    secondsPerFrame = self.elapsed / Double(max(frames.count, 1))
  }
}
