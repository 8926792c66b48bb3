/// One stretch of a stream: frames arrive by the clock, at most a few wait, and the newest wins.
package struct FrameSlice: Sendable, Hashable {
  package struct Frame: Sendable, Hashable {
    /// Seconds from the beginning of the slice.
    package var arrival: Double
    package var start: Double
    package var end: Double

    /// What the one who waits for the answer sees.
    package var latency: Double { end - arrival }
    package var service: Double { end - start }
  }

  package private(set) var frames: [Frame] = []
  package private(set) var dropped = 0
  /// Seconds from the beginning to the end of the last frame, or of the slice where that is later.
  package private(set) var elapsed = 0.0

  /// Runs a paced slice.
  ///
  /// - Parameters:
  ///   - rate: arrivals a second; the first comes at once.
  ///   - queue: frames that may wait; when more have arrived, the oldest are dropped.
  ///   - infer: one inference; returns when it is done.
  ///   - pause: called between frames, for looking around.
  package static func paced<Failure: Error>(
    seconds: Double, rate: Double, queue: Int, clock: any BenchmarkClock, infer: () throws(Failure) -> Void,
    pause: (Double) -> Void = { _ in }
  ) throws(Failure) -> FrameSlice {
    var slice = FrameSlice()
    let begin = clock.now()
    let count = max(1, Int((seconds * rate).rounded(.down)))
    var next = 0
    while next < count {
      let arrival = Double(next) / rate
      if clock.now() - begin < arrival { clock.sleep(until: begin + arrival) }
      let now = clock.now() - begin
      // A clock that returns a little early must not lose the frame it slept for.
      let arrived = min(count, max(next + 1, Int(min((now * rate).rounded(.down), 1e15)) + 1))
      if arrived - next > queue {
        slice.dropped += arrived - next - queue
        next = arrived - queue
      }
      let start = clock.now() - begin
      try infer()
      let end = clock.now() - begin
      slice.frames.append(Frame(arrival: Double(next) / rate, start: start, end: end))
      next += 1
      pause(clock.now())
    }
    slice.elapsed = max(seconds, slice.frames.last?.end ?? 0)
    return slice
  }

  /// Runs one inference after the other until the time is over; at least one.
  package static func backToBack<Failure: Error>(
    seconds: Double, clock: any BenchmarkClock, infer: () throws(Failure) -> Void, pause: (Double) -> Void = { _ in }
  ) throws(Failure) -> FrameSlice {
    var slice = FrameSlice()
    let begin = clock.now()
    repeat {
      let start = clock.now() - begin
      try infer()
      slice.frames.append(Frame(arrival: start, start: start, end: clock.now() - begin))
      pause(clock.now())
    } while clock.now() - begin < seconds
    slice.elapsed = slice.frames.last?.end ?? seconds
    return slice
  }

  /// Seconds for each frame that was answered.
  package var secondsPerFrame: Double { elapsed / Double(max(frames.count, 1)) }
}
