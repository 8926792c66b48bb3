import KelvinBasics
import KelvinStreams
import Testing

@Suite("Stream queue")
struct FrameQueueTests {
  @Test("every arrival is counted once, the newest wins, and frames start in order")
  func addsUp() {
    for seed in UInt64(1)...300 {
      var random = SeededGenerator(seed: seed)
      let deadline = random.unit() < 0.5 ? 0.02 + 0.1 * random.unit() : nil
      var queue = FrameQueue<Int>(
        setting: .init(queue: 1 + random.index(below: 3)), first: random.index(below: 100), deadline: deadline)
      var (now, arrivals, latest) = (0.0, [Double](), -1)
      for _ in 0..<400 {
        now += 0.02 * random.unit()
        switch random.index(below: 8) {
        case 0...3:
          let wasFull = queue.waitingCount == queue.setting.queue
          let waits = queue.push(arrivals.count, at: now)
          #expect(!(waits && wasFull) || queue.waitingCount == queue.setting.queue, "seed \(seed)")
          arrivals.append(now)
        case 4...5:
          guard let frame = queue.take(at: now) else {
            #expect(queue.isEmpty, "seed \(seed): nothing is begun while something waits")
            continue
          }
          #expect(frame.payload > latest, "seed \(seed)")
          #expect(arrivals[frame.payload] == frame.arrival, "seed \(seed)")
          #expect(deadline.map { now - frame.arrival < $0 } ?? true, "seed \(seed): it is over its deadline already")
          latest = frame.payload
          queue.answered(in: 0.05 * random.unit())
        case 6:
          queue.setting = .init(
            plan: random.index(below: 3), rate: [1, 0.75, 0.25][random.index(below: 3)],
            queue: 1 + random.index(below: 3))
        default: if random.unit() < 0.1 { queue.abandon() }
        }
        let tally = queue.tally
        #expect(tally.arrived == arrivals.count, "seed \(seed)")
        #expect(
          tally.skipped + tally.dropped + tally.tooLate + tally.abandoned + tally.begun + queue.waitingCount
            == tally.arrived, "seed \(seed)")
        #expect(queue.waitingCount <= queue.setting.queue, "seed \(seed)")
      }
    }
  }

  @Test("a frame that would miss the deadline is replaced by a newer one")
  func deadline() {
    var queue = FrameQueue<Void>(setting: .init(queue: 3), deadline: 0.1)
    queue.push((), at: 0)
    _ = queue.take(at: 0)
    queue.answered(in: 0.06)
    for arrival in [0.01, 0.03, 0.05] { queue.push((), at: arrival) }
    // At 0.08 the answers would come at 0.14: after the deadlines of the first two, 0.11 and 0.13.
    let frame = queue.take(at: 0.08)
    #expect(frame?.number == 3)
    #expect(queue.tally.tooLate == 2)
    #expect(queue.isLate(after: 0.1) == false && queue.isLate(after: 0.11))
  }

  @Test("a plan slower than the deadline runs on frames within the deadline")
  func hopeless() {
    var queue = FrameQueue<Void>(deadline: 0.05)
    for frame in 0..<20 {
      queue.push((), at: Double(frame))
      #expect(queue.take(at: Double(frame) + 0.01) != nil, "frame \(frame)")
      queue.answered(in: 0.2)
    }
    queue.push((), at: 100)
    #expect(queue.take(at: 100.06) == nil)
    #expect(queue.tally.tooLate == 1)
  }

  @Test("one slow frame does not change the expected time of a plan")
  func expected() {
    var queue = FrameQueue<Void>(deadline: 0.1)
    func begins(age: Double, at now: Double) -> Bool {
      queue.push((), at: now - age)
      return queue.take(at: now) != nil
    }
    for _ in 0..<5 { queue.answered(in: 0.02) }
    queue.answered(in: 0.09)
    #expect(begins(age: 0.05, at: 1))
    queue.setting.plan = 1
    for _ in 0..<5 { queue.answered(in: 0.06) }
    #expect(!begins(age: 0.05, at: 2))
    queue.setting.plan = 0
    #expect(begins(age: 0.05, at: 3))
  }

  @Test("frame n arrives at n/rate")
  func paced() {
    for seed in UInt64(1)...200 {
      var random = SeededGenerator(seed: seed)
      let rate = 0.1 + 200 * random.unit()
      let count = random.unit() < 0.5 ? 50 : nil
      var arrivals = PacedArrivals(rate: rate, count: count)
      var queue = FrameQueue<Void>(setting: .init(queue: 10_000))
      var now = 0.0
      for _ in 0..<60 {
        // Half of the checks are at the exact time at which a frame is due.
        if random.unit() < 0.5, let due = arrivals.due { now = max(now, due) } else { now += random.unit() / rate }
        arrivals.admit(until: now, to: &queue)
        var expected = 0
        while Double(expected) / rate <= now, expected < count ?? .max { expected += 1 }
        #expect(queue.tally.arrived == expected, "seed \(seed), \(rate) a second at \(now)")
      }
    }
  }
}

@Suite("Frames of an hour")
struct FrameHourTests {
  /// Runs a queue in virtual time.
  ///
  /// - Parameters:
  ///   - service: the seconds of a prediction, as a multiple of the time between frames.
  /// - Returns: the age of the oldest answer, as a multiple of the time between frames, and the answered frames.
  private func run(service: Double, frames: Int) -> (oldest: Double, answered: Int) {
    var queue = FrameQueue<Void>()
    var (free, oldest, answered) = (0.0, 0.0, 0)
    func serve(until now: Double) {
      while free <= now, let frame = queue.take(at: free) {
        let start = max(free, frame.arrival)
        free = start + service
        oldest = max(oldest, free - frame.arrival)
        answered += 1
      }
    }
    for frame in 0..<frames {
      serve(until: Double(frame))
      free = queue.isEmpty ? max(free, Double(frame)) : free
      queue.push((), at: Double(frame))
    }
    serve(until: .infinity)
    return (oldest, answered)
  }

  @Test("with a model that takes 1.5 frames, no answer of an hour is older than 3 frames")
  func age() {
    let (oldest, answered) = run(service: 1.5, frames: 108_000)
    #expect(oldest < 3, "\(oldest)")
    #expect(answered >= 71_990, "the model is busy all the time: \(answered)")
  }

  @Test("a model that keeps up answers every frame")
  func keepsUp() { #expect(run(service: 0.9, frames: 1000).answered == 1000) }
}
