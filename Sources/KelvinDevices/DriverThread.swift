internal import Dispatch
internal import Glibc
internal import KelvinBasics
internal import Synchronization

/// A thread on which drivers are called, so that a call that never returns blocks only this thread.
///
/// Callers wait for the work, and abandon the thread if a driver call does not return within its device's time limit.
/// An abandoned thread never continues: if the call returns after all, the thread sleeps for the rest of the process.
/// So nothing that it holds is used again: memory that the driver may still write, handles, locks.
package final class DriverThread: @unchecked Sendable {
  private typealias Work = () -> Void

  private struct Handed: @unchecked Sendable { var work: Work? }

  /// A part of the work in which a driver is called.
  struct Section {
    let health: DeviceHealth
    let device: String
    let place: String
    let kind: DriverCallKind
  }

  /// The threads that wait for work.
  private static let idle = Mutex<[DriverThread]>([])
  /// The maximum number of idle threads; further threads end with their work.
  private static let idleLimit = 16
  /// The seconds between two checks of a thread.
  private static let interval = 0.1

  private let handed = Mutex(Handed())
  private let begun = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)
  /// The innermost section that the work is in.
  private let section = Mutex<Section?>(nil)
  /// A counter that is odd inside a section and even outside. It increases at each step that shows that no call is
  /// hung.
  private let beats = Atomic<UInt64>(0)
  private static let givenUp = UInt64.max
  private static let isAnyGivenUp = Atomic<Bool>(false)

  /// Whether this process has abandoned a thread. Its driver may hold locks, including the dynamic loader's, on which
  /// an orderly exit of the process would block.
  package static var hasGivenUpAny: Bool { isAnyGivenUp.load(ordering: .acquiring) }

  private init() {}

  /// Runs work on a driver thread, or on the calling thread if it is one, or if the system cannot start another.
  ///
  /// - Parameter body: only its sections have time limits (`DeviceHealth.guarded`). Everything it retains is leaked
  ///   if the thread is abandoned.
  /// - Throws: `.hung` if the thread was abandoned, which marks the device as failed; the errors of `body`.
  package static func perform<Result>(
    _ body: @escaping () throws(DeviceError) -> Result
  ) throws(DeviceError) -> Result {
    guard current == nil, let thread = idle.withLock({ $0.popLast() }) ?? start() else { return try body() }
    let outcome = Outcome<Result>()
    let budget = WorkBudget.current
    thread.hand {
      let result: Swift.Result<Result, DeviceError> = WorkBudget.governing(budget) {
        do throws(DeviceError) { return .success(try body()) } catch { return .failure(error) }
      }
      outcome.set(result)
    }
    if let failure = thread.awaited() { throw failure }
    thread.rest()
    return try outcome.get()
  }

  /// Records that no driver call is hung: a call has returned, or the thread is not waiting for a driver.
  package static func beat() { current?.beat(by: 2) }

  /// Runs code without a time limit, in which no driver is called.
  package static func pausing<Result>(
    _ body: () throws(DeviceError) -> Result
  ) throws(DeviceError) -> Result {
    guard let thread = current else { return try body() }
    return try thread.within(nil, body)
  }

  /// Runs code in a section, or outside of any section.
  func within<Result>(
    _ section: Section?, _ body: () throws(DeviceError) -> Result
  ) throws(DeviceError) -> Result {
    let outer = enter(section)
    if section?.kind == .compiling { section?.health.compilations.add(1, ordering: .relaxed) }
    defer {
      if section?.kind == .compiling { section?.health.compilations.subtract(1, ordering: .relaxed) }
      _ = enter(outer)
    }
    return try body()
  }

  private func enter(_ next: Section?) -> Section? {
    // The time of the previous section must not count for the next one.
    beat(by: 2)
    let before = section.withLock { section in
      defer { section = next }
      return section
    }
    beat(by: (before == nil) == (next == nil) ? 2 : 1)
    return before
  }

  /// - Parameter step: 1 to enter or leave a section; 2, which has no effect outside of a section, to show progress.
  private func beat(by step: UInt64) {
    let now = beats.load(ordering: .relaxed)
    guard step == 1 || now & 1 == 1 else { return }
    let next = now == Self.givenUp ? now : now &+ step
    guard next != now,
      beats.compareExchange(expected: now, desired: next, ordering: .acquiringAndReleasing).exchanged
    else { Self.sleepForEver() }
  }

  private static func sleepForEver() -> Never {
    while true { pause() }
  }

  // MARK: The waiting thread

  private func hand(_ work: @escaping Work) {
    handed.withLock { [handing = Handed(work: work)] in $0 = handing }
    begun.signal()
  }

  /// Waits for the end of the work.
  ///
  /// It counts checks instead of time, so that time in which the process was stopped does not count.
  /// - Returns: the error if the thread was abandoned; nil if the work has ended.
  private func awaited() -> DeviceError? {
    var (seen, wait, interval) = (UInt64(0), Wait(), Self.interval)
    while ended.wait(timeout: .now() + interval) == .timedOut {
      let now = beats.load(ordering: .acquiring)
      guard now & 1 == 1, now == seen, let section = section.withLock({ $0 }) else {
        (seen, wait) = (now, Wait())
        continue
      }
      let limit = section.health.limit(section.kind)
      wait.goOn(by: interval, section.health)
      interval = min(Self.interval, limit / 4)
      guard wait.exceeds(limit, section.health),
        beats.compareExchange(expected: seen, desired: Self.givenUp, ordering: .acquiringAndReleasing).exchanged
      else { continue }
      Self.isAnyGivenUp.store(true, ordering: .releasing)
      let failure = DeviceError.stuck(section.device, section.place, seconds: limit)
      section.health.takeOut(failure)
      return section.health.failure ?? failure
    }
    return nil
  }

  /// The time since a call of the driver began, and the driver's signs of life in it.
  private struct Wait {
    private var (waited, looked) = (0.0, 0.0)
    private var signs = LifeSigns()

    mutating func goOn(by seconds: Double, _ health: DeviceHealth) {
      waited += seconds
      guard waited - looked >= health.patience * DeviceHealth.betweenLooks else { return }
      looked = waited
      signs.look(at: waited, health)
    }

    func exceeds(_ limit: Double, _ health: DeviceHealth) -> Bool {
      waited >= max(limit, min(signs.latest + limit, limit + health.preparation * DeviceHealth.aliveFactor))
    }
  }

  /// Returns the thread to the idle ones, or ends it if there are enough.
  private func rest() {
    let isKept = Self.idle.withLock { idle in
      guard idle.count < Self.idleLimit else { return false }
      idle.append(self)
      return true
    }
    if !isKept { begun.signal() }
  }

  // MARK: The driver thread

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  /// The driver thread that the caller runs on.
  static var current: DriverThread? {
    pthread_getspecific(key).map { Unmanaged<DriverThread>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Starts a thread; nil if the system cannot. Signals sent to the process are left to other threads.
  private static func start() -> DriverThread? {
    DriverProcessorTime.begin()
    var (blocked, before) = (sigset_t(), sigset_t())
    sigfillset(&blocked)
    for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP] { sigdelset(&blocked, fault) }
    pthread_sigmask(SIG_SETMASK, &blocked, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let thread = Unmanaged.passRetained(DriverThread())
    var handle = pthread_t()
    let status = pthread_create(
      &handle, nil,
      { context in
        guard let context else { return nil }
        pthread_setspecific(DriverThread.key, context)
        let thread = Unmanaged<DriverThread>.fromOpaque(context).takeRetainedValue()
        while thread.serve() {}
        return nil
      }, thread.toOpaque())
    guard status == 0 else {
      thread.release()
      return nil
    }
    pthread_detach(handle)
    return thread.takeUnretainedValue()
  }

  /// - Returns: whether there was work.
  private func serve() -> Bool {
    begun.wait()
    guard work() else { return false }
    ended.signal()
    return true
  }

  /// Runs the work and releases everything it retains before its end is signalled.
  private func work() -> Bool {
    let handed = handed.withLock { handed in
      defer { handed = Handed() }
      return handed
    }
    handed.work?()
    return handed.work != nil
  }

  /// The result of some work, once it has ended.
  final class Outcome<Value>: @unchecked Sendable {
    private struct Held: @unchecked Sendable { var result: Swift.Result<Value, DeviceError>? }

    private let held = Mutex(Held())

    func set(_ result: Swift.Result<Value, DeviceError>) {
      held.withLock { [new = Held(result: result)] in $0 = new }
    }

    func get() throws(DeviceError) -> Value {
      guard let result = held.withLock({ $0 }).result else { preconditionFailure("work has ended without a result") }
      return try result.get()
    }
  }
}
