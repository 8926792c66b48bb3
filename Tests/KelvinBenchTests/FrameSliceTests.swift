import KelvinBench
import KelvinMeasurements
import KelvinStreams
import TestSupport
import Testing

struct FrameSliceTests {
  private func slice(fps: Double, service: Double, seconds: Double = 2, queue: Int = 1) -> FrameSlice {
    let clock = VirtualClock()
    clock.advance(by: 100)
    return paced(seconds: seconds, rate: fps, queue: queue, clock: clock) { clock.advance(by: service) }
  }

  private func paced(
    seconds: Double, rate: Double, queue: Int, clock: any MeasurementClock, infer: () -> Void
  ) -> FrameSlice {
    var slice = FrameSlice()
    slice.runPaced(
      arrivals: Int((seconds * rate).rounded()), rate: rate, setting: { GovernorSetting(queue: queue) }, clock: clock,
      infer: infer)
    return slice
  }

  @Test func fastDeviceServesEveryFrameOnArrival() {
    let run = slice(fps: 50, service: 0.004)
    #expect(run.frames.count == 100)
    #expect(run.dropped == 0)
    #expect(run.frames.allSatisfy { abs($0.latency - 0.004) < 1e-9 })
    #expect(abs(run.elapsed - 2) < 0.01)
  }

  @Test func slowDeviceDropsTheOldestFrames() {
    let run = slice(fps: 50, service: 0.05)
    #expect(run.frames.count + run.dropped == 100)
    // 20 frames a second are served, so 60 of 100 are dropped.
    #expect(abs(run.dropped - 60) <= 2)
    // The newest frame waits less than one period, whatever came before it.
    #expect(run.frames.allSatisfy { $0.start - $0.arrival < 0.02 + 1e-9 })
    #expect(zip(run.frames, run.frames.dropFirst()).allSatisfy { $0.arrival < $1.arrival })
  }

  @Test(arguments: [1, 2, 4]) func queueHoldsItsNumberOfFrames(queue: Int) {
    let run = slice(fps: 100, service: 0.1, queue: queue)
    #expect(run.frames.count + run.dropped == 200)
    let longestWait = run.frames.map { $0.start - $0.arrival }.max() ?? 0
    #expect(longestWait <= Double(queue) * 0.01 + 0.1 * Double(queue - 1) + 1e-9)
    #expect(longestWait > Double(queue - 1) * 0.01)
  }

  @Test("a slice lasts as long as the intervals between its arrivals")
  func wholeIntervals() {
    let run = slice(fps: 15, service: 0.004, seconds: 13.0 / 15)
    #expect(run.frames.count == 13)
    #expect(abs(1 / run.secondsPerFrame - 15) < 1e-9)
  }

  @Test func stallDropsOnlyFramesBeyondTheQueue() {
    let clock = VirtualClock()
    var count = 0
    let run = paced(seconds: 1, rate: 10, queue: 2, clock: clock) {
      count += 1
      clock.advance(by: count == 3 ? 0.55 : 0.01)
    }
    // Frame 2 takes until 0.75; frames 3…7 have arrived by then, two may wait.
    #expect(run.dropped == 3)
    #expect(run.frames.count == 7)
  }

  @Test func earlyWakingLosesNoFrame() {
    struct Early: MeasurementClock {
      let inner: VirtualClock
      func now() -> Double { inner.now() }
      func sleep(until time: Double) { inner.sleep(until: time - 1e-4) }
    }
    let clock = VirtualClock()
    let run = paced(seconds: 1, rate: 20, queue: 1, clock: Early(inner: clock)) { clock.advance(by: 0.001) }
    #expect(run.frames.count == 20)
    #expect(run.dropped == 0)
  }

  @Test func governedFramesAreEvenAndTheRestIsSkipped() {
    let clock = VirtualClock()
    var run = FrameSlice()
    run.runPaced(
      arrivals: 80, rate: 40, setting: { GovernorSetting(rate: 0.25) }, clock: clock,
      infer: { clock.advance(by: 0.001) })
    #expect(run.frames.count == 20)
    #expect(run.skipped == 60)
    #expect(run.dropped == 0)
    #expect(zip(run.frames, run.frames.dropFirst()).allSatisfy { abs($1.arrival - $0.arrival - 0.1) < 1e-9 })
  }

  @Test func rateOfAYoungSliceIsNotAboveThatOfTheArrivals() {
    let clock = VirtualClock()
    var rates: [Double] = []
    var run = FrameSlice()
    run.runPaced(
      arrivals: 30, rate: 30, setting: { GovernorSetting() }, clock: clock, infer: { clock.advance(by: 0.02) },
      pause: { rates.append($1.rate(arrivalsPerSecond: 30) ?? 0) })
    #expect(rates.count == 30 && rates.allSatisfy { abs($0 - 30) < 1e-9 }, "\(rates)")
    #expect((run.rate(arrivalsPerSecond: nil) ?? 0) > 30)
    #expect(FrameSlice().rate(arrivalsPerSecond: 30) == nil)
  }

  @Test func shrinkingQueueDropsOldFrames() {
    let clock = VirtualClock()
    var run = FrameSlice()
    var count = 0
    run.runPaced(
      arrivals: 100, rate: 100, setting: { GovernorSetting(queue: count < 3 ? 4 : 1) }, clock: clock,
      infer: {
        count += 1
        clock.advance(by: 0.05)
      })
    #expect(run.frames.count + run.dropped == 100)
    #expect(run.frames.suffix(10).allSatisfy { $0.start - $0.arrival <= 0.01 + 1e-9 })
  }

  @Test func suspendDropsTheMissedFrames() {
    let clock = VirtualClock()
    var run = FrameSlice()
    var count = 0
    run.runPaced(
      arrivals: 40_000_000, rate: 1000, setting: { GovernorSetting() }, clock: clock,
      infer: {
        count += 1
        clock.advance(by: count == 2 ? 39_999 : 0.0001)
      })
    #expect(run.frames.count + run.dropped == 40_000_000)
    #expect(run.frames.count < 1100)
  }

  @Test func readFramesAreThoseOfTheArrivalsThatAreAnswered() {
    let clock = VirtualClock()
    var run = FrameSlice()
    var position = 40
    var answered: [Int] = []
    run.runPaced(
      arrivals: 100, rate: 50, first: 40, setting: { GovernorSetting(queue: 1) }, clock: clock,
      read: { passingOver in
        position += passingOver
        answered.append(position)
        position += 1
        clock.advance(by: 0.01)
      }, infer: { clock.advance(by: 0.04) })
    // 20 of 50 frames a second are answered, so 1.5 are passed over for each.
    #expect(run.dropped > 50 && answered.count == run.frames.count)
    #expect(zip(answered, run.frames).allSatisfy { abs(Double($0 - 40) / 50 - $1.arrival) < 1e-9 })
    #expect(run.frames.allSatisfy { abs(($0.reading ?? 0) - 0.01) < 1e-9 && abs($0.service - 0.05) < 1e-9 })
  }

  @Test func streamOfOneInputHasNoTimeOfReading() {
    #expect(slice(fps: 50, service: 0.004).frames.allSatisfy { $0.reading == nil })
  }

  @Test func framesBeforeAnErrorAreKept() {
    struct Lost: Error {}
    let clock = VirtualClock()
    var run = FrameSlice()
    #expect(throws: Lost.self) {
      try run.runPaced(
        arrivals: 100, rate: 10, setting: { GovernorSetting() }, clock: clock,
        infer: { () throws(Lost) in
          clock.advance(by: 0.01)
          if clock.now() > 3 { throw Lost() }
        })
    }
    #expect(run.frames.count == 30)
    #expect(abs(run.elapsed - clock.now()) < 1e-9)
  }

  @Test func pipelineRateIsCountedBetweenResults() {
    // Filling takes a second, then there is an answer every 0.1 s; two more come after the end.
    let answers = (0..<22).map { FrameSlice.Frame(arrival: 0, start: 0, end: 1 + 0.1 * Double($0)) }
    let slice = FrameSlice(pipelined: answers.reversed(), inFlight: 1, seconds: 2.95)
    #expect(slice.frames.map(\.end) == answers.map(\.end))
    #expect(abs(slice.secondsPerFrame - 0.1) < 1e-9)
    #expect(FrameSlice(pipelined: [], inFlight: 1, seconds: 1).frames.isEmpty)
    #expect(FrameSlice(pipelined: [answers[0]], inFlight: 1, seconds: 2).secondsPerFrame == 1)
  }

  @Test func simultaneousResultsCountOnce() {
    // Two sessions answer side by side twice a second: four answers a second, however short the slice is.
    let answers = (1...3).flatMap { turn in
      (0..<2).map { FrameSlice.Frame(arrival: 0, start: 0, end: 0.5 * Double(turn) + 1e-6 * Double($0)) }
    }
    #expect(abs(FrameSlice(pipelined: answers, inFlight: 2, seconds: 2).secondsPerFrame - 0.25) < 1e-5)
  }
}
