import KelvinDevices
import Synchronization
import Testing

@Suite struct DeviceHealthTests {
  @Test func firstFailureIsReported() throws {
    try health.check()
    #expect(health.mayFree && health.failure == nil)
    let first = DeviceError(.lost, device: "gpu:0", place: "submission", reason: "pulled out")
    #expect(health.takeOut(first))
    #expect(!health.takeOut(DeviceError(.hung, device: "gpu:0", place: "later", reason: "asleep")))
    #expect(health.failure == first && !health.mayFree)
    #expect(throws: first) { try health.check() }
  }

  @Test func timeoutIsTheLongestAllowed() {
    #expect(health.patience == Watchdog.standard.floor)
    health.allow(0.5)
    #expect(health.patience == 0.5)
    health.allow(90)
    health.allow(2)
    #expect(health.patience == 90)
  }

  @Test func timeoutHasAnUpperBound() throws {
    health.allow(90)
    let submission = health.submitted()
    health.allowNoMore(than: 3)
    health.allow(120)
    #expect(health.patience == 3)
    #expect(throws: DeviceError.self) { try wait(for: submission) }
    #expect(clock.now == 103)
  }

  @Test func heldMemoryIsAllocatedMinusFreed() {
    health.took(byteCount: 300)
    health.took(byteCount: 20)
    health.freed(byteCount: 300)
    #expect(health.heldByteCount == 20)
  }

  @Test func mostHeldMemoryIsCountedAnew() {
    health.took(byteCount: 300)
    health.freed(byteCount: 250)
    #expect(health.takeMostHeld() == 300)
    health.took(byteCount: 20)
    #expect(health.takeMostHeld() == 70)
    #expect(health.takeMostHeld() == 70)
  }

  @Test func endOfASubmissionIsTheEndOfEarlierOnes() throws {
    let submissions = (0..<3).map { _ in health.submitted() }
    #expect(!submissions.contains(where: health.hasEnded))
    try wait(for: submissions[1], ending: 101)
    #expect(submissions.map(health.hasEnded) == [true, true, false])
  }

  /// A clock that advances only when a test sets it.
  private final class Still: Sendable {
    let seconds = Mutex(100.0)
    var now: Double { seconds.withLock { $0 } }
    func pass(_ seconds: Double) { self.seconds.withLock { $0 += seconds } }
  }

  private let clock: Still
  private let health: DeviceHealth

  init() {
    let clock = Still()
    self.clock = clock
    health = DeviceHealth { clock.now }
  }

  /// Waits for a submission that ends at a moment of the clock, or never.
  @discardableResult
  private func wait(
    for submission: DeviceHealth.Submission, ending end: Double = .infinity, attempts: ((Double) -> Void)? = nil
  ) throws(DeviceError) -> Double {
    try health.wait("gpu:0", "a wait", for: submission) { (seconds) throws(DeviceError) in
      attempts?(seconds)
      clock.pass(max(0, min(seconds, end - clock.now)))
      return clock.now >= end
    }
  }

  @Test func lateSubmissionIsHung() throws {
    health.allow(3)
    var waits: [Double] = []
    #expect { try wait(for: health.submitted(), attempts: { waits.append($0) }) } throws: { error in
      (error as? DeviceError)?.code == .hung && "\(error)".contains("within 3 s")
    }
    #expect(waits == [3])
    #expect(health.failure?.code == .hung)
    #expect(throws: DeviceError.self) {
      try wait(for: health.submitted(), attempts: { _ in Issue.record("a device that is out is not waited for") })
    }
  }

  /// Time counts from the submission, not from the first poll; the last poll gets a tenth of the limit.
  @Test func timeCountsFromTheSubmission() throws {
    health.allow(10)
    let submission = health.submitted()
    clock.pass(8)
    var waits: [Double] = []
    #expect(throws: DeviceError.self) { try wait(for: submission, attempts: { waits.append($0) }) }
    #expect(waits == [2])
    let other = DeviceHealth { [clock] in clock.now }
    let late = other.submitted()
    clock.pass(3600)
    try other.wait("gpu:1", "a wait", for: late) { (seconds) throws(DeviceError) in
      #expect(seconds == 1)
      return true
    }
    #expect(other.mayFree)
  }

  /// A submission that waits behind others gets their time too, whether or not anything polls them.
  @Test func queuedSubmissionsExtendTheTimeout() throws {
    health.allow(10)
    let all = (0..<4).map { _ in health.submitted() }
    let began = clock.now
    #expect(try wait(for: all[3], ending: began + 35) == 35)
    let next = health.submitted()
    #expect(throws: DeviceError.self) { try wait(for: next, ending: clock.now + 11) }
  }

  /// A program's first run has more time, and so has work that waits behind it.
  @Test func compilingSubmissionsHaveThreeTimesTheTimeout() throws {
    health.allow(10)
    let rehearsal = health.submitted(mayCompile: true)
    #expect(try wait(for: rehearsal, ending: clock.now + 29) == 29)
    let other = health.submitted(mayCompile: true)
    let behind = health.submitted()
    #expect(try wait(for: behind, ending: clock.now + 35) == 35)
    #expect(try wait(for: other, ending: 0) == 0)
    #expect { try wait(for: health.submitted(mayCompile: true), ending: clock.now + 31) } throws: { error in
      "\(error)".contains("within 30 s")
    }
  }

  /// The limit that a user sets for runs may be far shorter than the compilation in a first run.
  @Test func limitOfRunsDoesNotShortenPreparation() throws {
    health.allow(1)
    #expect(try wait(for: health.submitted(mayCompile: true), ending: clock.now + 29) == 29)
    #expect(throws: DeviceError.self) { try wait(for: health.submitted(), ending: clock.now + 2) }
  }

  /// A software driver whose processor time increases by this share of the time, up to a moment of the clock.
  private func computing(_ share: Double, until end: Double = .infinity) -> DeviceHealth {
    DeviceHealth(now: { [clock] in clock.now }, processorTime: { [clock] in share * min(clock.now, end) })
  }

  private func wait(on health: DeviceHealth, ending end: Double = .infinity) throws(DeviceError) {
    try health.wait("llvmpipe", "a wait", for: health.submitted()) { (seconds) throws(DeviceError) in
      clock.pass(max(0, min(seconds, end - clock.now)))
      return clock.now >= end
    }
  }

  /// A busy machine leaves it a tenth of a core.
  @Test func softwareDriverThatComputesIsAwaited() throws {
    try wait(on: computing(0.1), ending: clock.now + 100)
  }

  @Test func softwareDriverThatSleepsIsHungAfterTheLimit() {
    let began = clock.now
    #expect(throws: DeviceError.self) { try wait(on: computing(0)) }
    #expect(clock.now == began + 10)
  }

  /// The threads' clocks are not read at one moment: a sleeping driver seems to have used some microseconds.
  @Test func waitThatReturnsAtOnceGivesNoSignsOfLife() {
    let count = Mutex(0)
    let health = DeviceHealth(
      now: { [clock] in clock.now },
      processorTime: {
        count.withLock { count in
          count += 1
          return Double(count % 2) * 1e-3
        }
      })
    let began = clock.now
    #expect(throws: DeviceError.self) {
      try health.wait("llvmpipe", "a wait", for: health.submitted()) { (_) throws(DeviceError) in
        clock.pass(0.05)
        return false
      }
    }
    #expect(abs(clock.now - began - 10) < 0.1)
  }

  /// Threads that wait for one hung driver, and return at once each time, are no signs of life for each other.
  @Test func waitsThatReturnAtOnceUseLittleProcessorTime() async {
    // In a process of its own no other test uses a driver.
    await #expect(processExitsWith: .success) {
      let health = DeviceHealth(patience: 0.2, processorTime: DriverProcessorTime.used)
      let used = DriverProcessorTime.used()
      #expect(throws: DeviceError.self) {
        try health.wait("llvmpipe", "a wait", for: health.submitted()) { (_) throws(DeviceError) in false }
      }
      #expect(DriverProcessorTime.used() - used < 0.02)
    }
  }

  @Test func softwareDriverThatFallsAsleepIsHungALimitLater() {
    let began = clock.now
    #expect(throws: DeviceError.self) { try wait(on: computing(1, until: began + 20)) }
    #expect(clock.now == began + 30)
  }

  /// The processor time of other threads cannot be told from the driver's in every case.
  @Test func signsOfLifeExtendALimitByTwelveTimes() {
    let began = clock.now
    #expect(throws: DeviceError.self) { try wait(on: computing(1)) }
    #expect(clock.now == began + 130)
  }

  /// Polling work that has long finished shows no progress.
  @Test func pollingFinishedWorkDoesNotExtendTheTimeout() throws {
    health.allow(10)
    let first = health.submitted()
    try wait(for: first, ending: clock.now + 1)
    let hung = health.submitted()
    #expect(throws: DeviceError.self) {
      try health.wait("gpu:0", "a wait", for: hung) { (seconds) throws(DeviceError) in
        clock.pass(seconds / 2)
        #expect(try wait(for: first, ending: 0) == 0, "nothing is known of how long it took")
        clock.pass(seconds / 2)
        return false
      }
    }
  }

  @Test func watchdogLimitHasAMultipleAndAFloor() {
    let watchdog = Watchdog(floor: 2, multiple: 10)
    #expect(watchdog.limit(expecting: 0.01) == 2)
    #expect(watchdog.limit(expecting: 3) == 30)
  }

  @Test func failedWaitIsADeviceLoss() {
    let failed = DeviceError(.outOfMemory, device: "gpu:0", place: "a fence", reason: "no memory").asLoss()
    #expect(failed.code == .lost && failed.reason.contains("no memory"))
    let hung = DeviceError.hung("gpu:0", "a fence", seconds: 1)
    #expect(hung.asLoss() == hung)
  }
}
