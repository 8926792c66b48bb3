import KelvinBenchmark
import Testing

struct FrameSliceTests {
  private func slice(fps: Double, service: Double, seconds: Double = 2, queue: Int = 1) -> FrameSlice {
    let clock = VirtualClock()
    clock.advance(by: 100)
    return FrameSlice.paced(
      seconds: seconds, rate: fps, queue: queue, clock: clock, infer: { clock.advance(by: service) })
  }

  @Test func aFastDeviceServesEveryFrameWhenItArrives() {
    let run = slice(fps: 50, service: 0.004)
    #expect(run.frames.count == 100)
    #expect(run.dropped == 0)
    #expect(run.frames.allSatisfy { abs($0.latency - 0.004) < 1e-9 })
    #expect(abs(run.elapsed - 2) < 0.01)
  }

  @Test func aSlowDeviceDropsTheOldestAndNeverBuildsABacklog() {
    let run = slice(fps: 50, service: 0.05)
    #expect(run.frames.count + run.dropped == 100)
    // 20 frames a second are served, so 60 of 100 are dropped.
    #expect(abs(run.dropped - 60) <= 2)
    // The newest frame waits less than one period, whatever came before it.
    #expect(run.frames.allSatisfy { $0.start - $0.arrival < 0.02 + 1e-9 })
    #expect(zip(run.frames, run.frames.dropFirst()).allSatisfy { $0.arrival < $1.arrival })
  }

  @Test(arguments: [1, 2, 4]) func aQueueHoldsAsManyFramesAsItMay(queue: Int) {
    let run = slice(fps: 100, service: 0.1, queue: queue)
    #expect(run.frames.count + run.dropped == 200)
    let longestWait = run.frames.map { $0.start - $0.arrival }.max() ?? 0
    #expect(longestWait <= Double(queue) * 0.01 + 0.1 * Double(queue - 1) + 1e-9)
    #expect(longestWait > Double(queue - 1) * 0.01)
  }

  @Test func oneStallLosesOnlyWhatTheQueueCannotHold() {
    let clock = VirtualClock()
    var count = 0
    let run = FrameSlice.paced(seconds: 1, rate: 10, queue: 2, clock: clock) {
      count += 1
      clock.advance(by: count == 3 ? 0.55 : 0.01)
    }
    // Frame 2 takes until 0.75; frames 3…7 have arrived by then, two may wait.
    #expect(run.dropped == 3)
    #expect(run.frames.count == 7)
  }

  @Test func aClockThatWakesEarlyLosesNoFrame() {
    struct Early: BenchmarkClock {
      let inner: VirtualClock
      func now() -> Double { inner.now() }
      func sleep(until time: Double) { inner.sleep(until: time - 1e-4) }
    }
    let clock = VirtualClock()
    let run = FrameSlice.paced(
      seconds: 1, rate: 20, queue: 1, clock: Early(inner: clock), infer: { clock.advance(by: 0.001) })
    #expect(run.frames.count == 20)
    #expect(run.dropped == 0)
  }

  @Test func backToBackRunsUntilTheTimeIsOver() {
    let clock = VirtualClock()
    let run = FrameSlice.backToBack(seconds: 1, clock: clock, infer: { clock.advance(by: 0.3) })
    #expect(run.frames.count == 4)
    #expect(abs(run.secondsPerFrame - 0.3) < 1e-9)
  }
}
