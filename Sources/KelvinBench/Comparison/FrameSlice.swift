package import KelvinMeasurements

/// One stretch of a load that goes on: frames that arrive by the clock, or as many as will go.
package struct FrameSlice: Sendable, Hashable, Codable {
  package struct Frame: Sendable, Hashable, Codable {
    /// Seconds from the beginning of the slice.
    package var arrival: Double
    package var start: Double
    package var end: Double

    package init(arrival: Double, start: Double, end: Double) {
      self.arrival = arrival
      self.start = start
      self.end = end
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

  /// Runs a paced slice. What has been measured stands when an error ends it.
  ///
  /// - Parameters:
  ///   - rate: arrivals a second; the first comes at once.
  ///   - setting: asked before each frame: how many may wait, older ones being dropped, and which arrivals are taken.
  ///   - first: the number that the first arrival has for `setting`.
  ///   - infer: one inference; returns when it is done.
  ///   - pause: called between frames, for looking around at the slice so far.
  package mutating func runPaced<Failure: Error>(
    seconds: Double, rate: Double, first: Int = 0, setting: () -> GovernorSetting, clock: any MeasurementClock,
    infer: () throws(Failure) -> Void, pause: (_ now: Double, FrameSlice) -> Void = { _, _ in }
  ) throws(Failure) {
    let begin = clock.now()
    let count = max(1, Int((seconds * rate).rounded(.down)))
    var waiting: [Int] = []
    var next = 0
    var isOver = false
    defer { finish(isOver ? max(seconds, frames.last?.end ?? 0) : clock.now() - begin) }
    while true {
      // A clock that returns a little early must not lose the frame it slept for.
      let due = waiting.isEmpty && next < count ? next + 1 : next
      if due > next { clock.sleep(until: begin + Double(next) / rate) }
      let now = clock.now() - begin
      let arrived = min(count, max(due, Int(min((now * rate).rounded(.down), 1e15)) + 1))
      let setting = setting()
      if arrived - next > Self.farthest {
        dropped += arrived - next - Self.farthest
        next = arrived - Self.farthest
      }
      while next < arrived {
        if setting.takes(arrival: first + next) { waiting.append(next) } else { skipped += 1 }
        next += 1
        if waiting.count > setting.queue {
          waiting.removeFirst()
          dropped += 1
        }
      }
      guard let frame = waiting.first else {
        if next < count { continue }
        isOver = true
        return
      }
      waiting.removeFirst()
      let start = clock.now() - begin
      try infer()
      frames.append(Frame(arrival: Double(frame) / rate, start: start, end: clock.now() - begin))
      pause(clock.now(), self)
    }
  }

  /// Arrivals that are looked at one by one after a long silence; those before are dropped at once.
  private static let farthest = 1 << 20

  /// Runs one inference after the other until the time is over; at least one. What has been measured stands when an
  /// error ends it.
  package mutating func runBackToBack<Failure: Error>(
    seconds: Double, clock: any MeasurementClock, infer: () throws(Failure) -> Void,
    pause: (_ now: Double, FrameSlice) -> Void = { _, _ in }
  ) throws(Failure) {
    let begin = clock.now()
    defer { finish(frames.last?.end ?? clock.now() - begin) }
    repeat {
      let start = clock.now() - begin
      try infer()
      frames.append(Frame(arrival: start, start: start, end: clock.now() - begin))
      pause(clock.now(), self)
    } while clock.now() - begin < seconds
  }

  /// Takes over what a pipeline did.
  ///
  /// The rate is counted between the first and the last answer within `seconds`, so that neither filling nor emptying
  /// the pipeline counts.
  ///
  /// - Parameter answers: seconds from the beginning of the slice; in any order.
  package init(pipelined answers: [Frame], seconds: Double) {
    frames = answers.sorted { $0.end < $1.end }
    finish(frames.last?.end ?? seconds)
    let counted = frames.filter { $0.end <= seconds }
    if let first = counted.first, let last = counted.last, counted.count > 1, last.end > first.end {
      secondsPerFrame = (last.end - first.end) / Double(counted.count - 1)
    }
  }

  private mutating func finish(_ elapsed: Double) {
    self.elapsed = max(0, elapsed)
    secondsPerFrame = self.elapsed / Double(max(frames.count, 1))
  }
}
