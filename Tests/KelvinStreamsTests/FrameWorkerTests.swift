import Dispatch
import KelvinBasics
import KelvinMeasurements
import KelvinStreams
import Synchronization
import TestSupport
import Testing

@Suite("Stream worker")
struct FrameWorkerTests {
  private struct Refused: Error {}
  private struct Lost: Error {}

  /// A worker whose jobs run when the test says so, on a clock that the test moves.
  private final class Stage: Sendable {
    struct Record {
      var jobs: [@Sendable () -> Void] = []
      var delivered: [(number: Int, start: Double, isLate: Bool, failed: Bool)] = []
      var ends: [(any Error)?] = []
      var running = 0
      var isDelivering = false
    }
    let record = Mutex(Record())
    let clock = VirtualClock()
    /// The most frames that may be answered at the same time.
    let lanes: Int

    init(lanes: Int = 1) { self.lanes = lanes }

    /// Runs a job that was started and has not run; false where there is none.
    func runOne() -> Bool {
      guard let job = record.withLock({ $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }) else { return false }
      job()
      return true
    }

    func callbacks(
      adjust: @escaping @Sendable () -> GovernorSetting? = { nil },
      answer: @escaping @Sendable (Int) throws -> Int
    ) -> FrameWorker<Int, Int>.Callbacks {
      .init(
        start: { job in self.record.withLock { $0.jobs.append(job) } },
        answer: { payload, _ in
          let others = self.record.withLock { record in
            record.running += 1
            return record.running
          }
          #expect(others <= self.lanes, "as many frames at the same time as there are lanes")
          defer { self.record.withLock { $0.running -= 1 } }
          return try answer(payload)
        },
        deliver: { outcome in
          self.record.withLock {
            #expect(!$0.isDelivering, "one delivery at a time")
            $0.isDelivering = true
            $0.delivered.append(
              (outcome.number, outcome.start, outcome.isLate, (try? outcome.result.get()) == nil))
          }
        },
        isFatal: { error in
          self.record.withLock { $0.isDelivering = false }
          return error is Lost
        },
        adjust: { outcome in
          if case .success = outcome.result { self.record.withLock { $0.isDelivering = false } }
          return adjust()
        },
        end: { error in self.record.withLock { $0.ends.append(error) } })
    }
  }

  @Test("every interleaving delivers each frame once and in order", arguments: [[], [1, 2], [4, 1]])
  func interleavings(lanes: [Int]) throws {
    let most = lanes.max() ?? 1
    let overtaken = Atomic(0)
    for seed in UInt64(1)...400 {
      let stage = Stage(lanes: most)
      let random = Mutex(SeededGenerator(seed: seed))
      @Sendable func chance(_ share: Double) -> Bool { random.withLock { $0.unit() < share } }
      @Sendable func below(_ count: Int) -> Int { random.withLock { $0.index(below: count) } }
      let reference = Mutex<FrameWorker<Int, Int>?>(nil)
      @Sendable func push() { _ = reference.withLock { $0 }?.push(0) }
      let (losing, ending) = (seed.isMultiple(of: 7), seed.isMultiple(of: 5))
      let callbacks = stage.callbacks(
        adjust: { chance(0.2) ? .init(plan: below(2), rate: [1, 0.5][below(2)], queue: 1 + below(3)) : nil },
        answer: { payload in
          // Others go on while a frame is answered.
          for _ in 0..<below(4) {
            stage.clock.advance(by: 0.01)
            push()
          }
          // A frame that is begun now ends before this one.
          if most > 1, chance(0.5), stage.runOne() { overtaken.add(1, ordering: .relaxed) }
          stage.clock.advance(by: 0.04 * Double(below(3)))
          if ending, chance(0.02) { reference.withLock { $0 }?.end() }
          if chance(0.1) { throw Refused() }
          if losing, chance(0.02) { throw Lost() }
          return payload
        })
      let worker = FrameWorker<Int, Int>(
        setting: .init(queue: 1 + below(3)), deadline: chance(0.5) ? 0.1 : nil, lanes: lanes, clock: stage.clock,
        callbacks)
      reference.withLock { $0 = worker }
      defer { reference.withLock { $0 = nil } }
      for _ in 0..<200 {
        stage.clock.advance(by: 0.02)
        if chance(0.6) { push() } else { _ = stage.runOne() }
        check(worker, seed)
        #expect(stage.record.withLock { $0.jobs.count } <= most, "seed \(seed): no more jobs than lanes")
        #expect(worker.tally.inService <= 2 * most - 1, "seed \(seed)")
      }
      worker.finish()
      while stage.runOne() {}
      let tally = worker.tally
      check(worker, seed)
      #expect(tally.waiting == 0 && tally.inService == 0, "seed \(seed)")
      #expect(!worker.push(0), "seed \(seed): it is over")
      #expect(worker.tally == tally, "seed \(seed): what is refused is not counted")
      stage.record.withLock { record in
        #expect(record.ends.count == 1, "seed \(seed)")
        #expect(record.delivered.count == tally.answered, "seed \(seed)")
        #expect(record.delivered.count { $0.isLate } == tally.late, "seed \(seed)")
        let numbers = record.delivered.map(\.number)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed)")
      }
    }
    #expect(most == 1 || overtaken.load(ordering: .relaxed) > 1000, "frames were answered at the same time")
  }

  private func check(_ worker: FrameWorker<Int, Int>, _ seed: UInt64) {
    let (tally, queue) = (worker.tally, worker.tally.queue)
    let settled = queue.skipped + queue.dropped + queue.tooLate + queue.abandoned
    #expect(
      settled + tally.answered + tally.interrupted + tally.waiting + tally.inService == queue.arrived, "seed \(seed)")
  }

  @Test("an error is the result of its frame, and a lost device ends the stream")
  func errors() throws {
    let stage = Stage()
    let worker = FrameWorker<Int, Int>(
      setting: .init(queue: 4), clock: stage.clock,
      stage.callbacks(answer: { payload in
        if payload == 1 { throw Refused() }
        if payload == 2 { throw Lost() }
        return payload
      }))
    for payload in 0..<4 { worker.push(payload) }
    while stage.runOne() {}
    #expect(stage.record.withLock { $0.delivered.map(\.failed) } == [false, true, true])
    #expect(stage.record.withLock { $0.ends.count == 1 && $0.ends[0] is Lost })
    #expect(worker.tally.queue.abandoned == 1)
    #expect(!worker.push(9))
  }

  @Test("a finished stream ends when idle, and a cancelled one ends immediately")
  func ends() {
    let idle = Stage()
    FrameWorker<Int, Int>(clock: idle.clock, idle.callbacks(answer: { $0 })).finish()
    #expect(idle.record.withLock { $0.ends.count } == 1)

    let stage = Stage()
    let worker = FrameWorker<Int, Int>(setting: .init(queue: 2), clock: stage.clock, stage.callbacks(answer: { $0 }))
    worker.push(0)
    worker.push(1)
    worker.end()
    #expect(stage.record.withLock { $0.ends.count } == 1)
    while stage.runOne() {}
    worker.end()
    worker.finish()
    #expect(stage.record.withLock { $0.delivered.isEmpty && $0.ends.count == 1 })
    #expect(worker.tally.queue.abandoned == 2)
  }

  @Test("a payload may push another frame when it is released")
  func payloadsThatCallBack() {
    final class Payload: Sendable {
      let end: @Sendable () -> Void
      init(_ end: @escaping @Sendable () -> Void) { self.end = end }
      deinit { end() }
    }
    let clock = VirtualClock()
    let jobs = Mutex<[@Sendable () -> Void]>([])
    let worker = FrameWorker<Payload, Int>(
      deadline: 1, clock: clock,
      .init(
        start: { job in jobs.withLock { $0.append(job) } }, answer: { _, _ in 0 }, deliver: { _ in },
        adjust: { _ in .init(queue: 1) }, end: { _ in }))
    let ends = Mutex(0)
    func push() {
      worker.push(
        Payload { [weak worker] in
          ends.withLock { $0 += 1 }
          worker?.push(Payload {})
        })
    }
    push()
    // Dropped by a newer one, too late, and abandoned.
    push()
    clock.advance(by: 2)
    while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { job() }
    push()
    worker.end()
    #expect(ends.withLock { $0 } == 3)
  }

  @Test("with real threads on both sides nothing is lost or answered twice")
  func threads() async throws {
    let delivered = Mutex<[Int]>([])
    let (pushers, each) = (4, 2000)
    await withCheckedContinuation { continuation in
      let worker = FrameWorker<Int, Int>(
        setting: .init(queue: 3),
        .init(
          start: { job in DispatchQueue.global().async(execute: job) }, answer: { payload, _ in payload },
          deliver: { outcome in delivered.withLock { $0.append(outcome.number) } },
          end: { _ in continuation.resume() }))
      let group = DispatchGroup()
      for _ in 0..<pushers {
        DispatchQueue.global().async(group: group) { for payload in 0..<each { worker.push(payload) } }
      }
      group.notify(queue: .global()) {
        worker.finish()
        let tally = worker.tally
        #expect(tally.queue.arrived == pushers * each)
        #expect(
          tally.queue.dropped + tally.answered + tally.waiting + tally.inService == pushers * each)
      }
    }
    let numbers = delivered.withLock { $0 }
    #expect(!numbers.isEmpty)
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
  }
}
