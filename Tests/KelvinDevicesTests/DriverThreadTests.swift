import Dispatch
import Glibc
import KelvinDevices
import Synchronization
import Testing

/// Driver calls that do not return, and the callers that wait for them.
@Suite struct DriverThreadTests {
  private let health = DeviceHealth(patience: 0.02)

  /// A call that returns when a test says so, or never.
  private final class Call: Sendable {
    let mayReturn = DispatchSemaphore(value: 0)
    let steps = Mutex<[String]>([])
    let returns = Atomic(0)

    func enter(_ name: String) {
      steps.withLock { $0.append(name) }
      mayReturn.wait()
      steps.withLock { $0.append("\(name) returned") }
      returns.add(1, ordering: .acquiringAndReleasing)
    }
  }

  @Test func stuckCallDisablesItsDevice() {
    let call = Call()
    #expect {
      try health.guarded("gpu:0", "submission") { () throws(DeviceError) in
        call.enter("first")
        DriverThread.beat()
        call.enter("second")
      }
    } throws: { error in
      let error = error as? DeviceError
      return error?.code == .hung && error?.place == "submission"
        && "\(error!)".contains("did not return within 0.03 s")
    }
    #expect(health.failure?.code == .hung && !health.mayFree)
    // If it returns later, its thread does nothing more.
    call.mayReturn.signal()
    while call.returns.load(ordering: .acquiring) == 0 { sched_yield() }
    #expect(throws: DeviceError.self) {
      try health.guarded("gpu:0", "anything") { () throws(DeviceError) in try health.check() }
    }
    #expect(call.steps.withLock { $0 } == ["first", "first returned"])
  }

  /// A driver may have a call wait for whatever it does in order, or behind the lock of its compiler.
  @Test func callTimeoutIncludesQueuedWork() throws {
    let alone = health.limit(.short)
    let submissions = (0..<3).map { _ in health.submitted() }
    #expect(health.limit(.short) == alone + 2 * health.patience)
    for submission in submissions { _ = try health.wait("gpu:0", "work", for: submission) { _ in true } }
    #expect(health.limit(.short) == alone)
    try health.guarded("gpu:0", "building", .compiling) { [health] () throws(DeviceError) in
      #expect(health.limit(.short) == health.limit(.compiling) && health.limit(.compiling) > alone)
    }
    #expect(health.limit(.short) == alone)
  }

  @Test func lockHeldByAStuckCallFailsItsWaiters() {
    let (call, lock) = (Call(), DeviceLock(0))
    let holder = WaitingThread { [health] () throws(DeviceError) in
      try health.guarded("gpu:0", "building") { () throws(DeviceError) in
        try lock.withLock(health) { (_) throws(DeviceError) in call.enter("building") }
      }
    }
    while call.steps.withLock({ $0.isEmpty }) { sched_yield() }
    #expect { try lock.withLock(health) { (_) throws(DeviceError) in Issue.record("it is held") } } throws: { error in
      (error as? DeviceError)?.place == "building"
    }
    #expect(holder.failure()?.place == "building")
  }

  /// Work on the host, and waiting for others, is not a driver call.
  @Test func hostWorkHasNoTimeout() throws {
    let call = Call()
    let worker = WaitingThread { [health] () throws(DeviceError) in
      try health.guarded("gpu:0", "compilation") { () throws(DeviceError) in
        try DriverThread.pausing { () throws(DeviceError) in call.enter("packing") }
      }
    }
    // Another call, made after it, has been given up by now.
    let stuck = DeviceHealth(patience: 0.05)
    #expect(throws: DeviceError.self) {
      try stuck.guarded("gpu:1", "submission") { () throws(DeviceError) in Call().enter("submission") }
    }
    call.mayReturn.signal()
    #expect(worker.failure() == nil)
    #expect(health.mayFree)
  }

  @Test func callsWithinCallsStayOnOneThread() throws {
    let own = pthread_self()
    let threads = try DriverThread.perform { [health] () throws(DeviceError) in
      let outer = pthread_self()
      let inner = try health.guarded("gpu:0", "outer") { () throws(DeviceError) in
        try health.guarded("gpu:0", "inner") { () throws(DeviceError) in pthread_self() }
      }
      return (outer, inner)
    }
    #expect(threads.0 == threads.1 && threads.0 != own)
    #expect(throws: DeviceError(.execution, device: "gpu:0", place: "a", reason: "b")) {
      try DriverThread.perform { () throws(DeviceError) in
        throw DeviceError(.execution, device: "gpu:0", place: "a", reason: "b")
      }
    }
  }

  @Test func parallelCallsThrowTheFirstFailureInOrder() {
    @Sendable func failure(_ index: Int) -> DeviceError {
      DeviceError(.execution, device: "gpu:0", place: "\(index)", reason: "r")
    }
    let made = Mutex<Set<Int>>([])
    #expect(throws: failure(3)) {
      try DriverThread.perform { [health] () throws(DeviceError) in
        try health.guardedEach("gpu:0", "building", .compiling, 8) { index throws(DeviceError) in
          _ = made.withLock { $0.insert(index) }
          if index == 5 || index == 3 { throw failure(index) }
        }
      }
    }
    #expect(made.withLock { $0 } == Set(0..<8) && health.failure == nil)
  }

  @Test(arguments: [false, true])
  func stuckParallelCallDisablesItsDevice(_ isOnDriverThread: Bool) {
    let call = Call()
    let body = { @Sendable [health] () throws(DeviceError) in
      try health.guardedEach("gpu:0", "building", .short, 4) { index throws(DeviceError) in
        if index == 1 { call.enter("stuck") }
      }
    }
    #expect {
      if isOnDriverThread { try DriverThread.perform(body) } else { try body() }
    } throws: { error in
      (error as? DeviceError)?.code == .hung
    }
    #expect(health.failure?.code == .hung && !health.mayFree)
    #expect(call.steps.withLock { $0 } == ["stuck"])
  }

  @Test func memoryOfALostDeviceIsNotFreed() {
    var released = 0
    health.freeing("gpu:0") { released += 1 }
    #expect(released == 1)
    health.takeOut(DeviceError(.lost, device: "gpu:0", place: "a", reason: "b"))
    health.freeing("gpu:0") { released += 1 }
    #expect(released == 1)
  }
}

/// A thread whose failure is asked for.
private final class WaitingThread: Sendable {
  private let outcome = Mutex<DeviceError?>(nil)
  private let ended = DispatchSemaphore(value: 0)

  init(_ body: @escaping @Sendable () throws(DeviceError) -> Void) {
    DispatchQueue.global().async { [self] in
      do throws(DeviceError) { try body() } catch { outcome.withLock { $0 = error } }
      ended.signal()
    }
  }

  func failure() -> DeviceError? {
    ended.wait()
    return outcome.withLock { $0 }
  }
}
