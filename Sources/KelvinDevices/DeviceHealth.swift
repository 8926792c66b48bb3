internal import Glibc
import Synchronization

/// The health of a device, shared by all models of the process.
///
/// A device that was lost, or did not finish in time, has failed for good. Nothing is submitted to it again, and
/// memory that it may still access is not freed. Owners of this memory check `mayFree`, and pass host memory to
/// `LeakedResources`.
package final class DeviceHealth: Sendable {
  private let isOut = Atomic(false)
  private let first = Mutex<DeviceError?>(nil)
  private let initial: Double
  /// The bit pattern of the allowed seconds so far; it increases monotonically with the value. 0 at first.
  private let allowed = Atomic<UInt64>(0)
  private let queue = Mutex(Queue())
  /// The bit patterns of the upper limits of `patience` and `preparation` in seconds.
  private let most = Atomic(Double.infinity.bitPattern)
  private let mostPreparation = Atomic(Double.infinity.bitPattern)
  private let held = Atomic(0)
  private let mostHeld = Atomic(0)
  /// The number of threads in which the device's driver is compiling.
  let compilations = Atomic(0)
  private let now: @Sendable () -> Double
  /// The checks of the device's results.
  package let results = ResultCheck()
  /// Returns the processor time of a software driver; nil for hardware.
  let processorTime: (@Sendable () -> Double)?

  /// - Parameters:
  ///   - patience: the time limit in seconds until `allow` is called.
  ///   - now: returns the seconds since a fixed moment.
  ///   - processorTime: for a software driver, returns the processor time that it has used in seconds
  ///     (`DriverProcessorTime`). Its progress extends time limits.
  package init(
    patience: Double = Watchdog.standard.floor, now: @escaping @Sendable () -> Double = secondsAwake,
    processorTime: (@Sendable () -> Double)? = nil
  ) {
    precondition(patience > 0)
    initial = patience
    self.processorTime = processorTime
    self.now = now
  }

  /// The failure of the device; nil if it has not failed.
  package var failure: DeviceError? { isOut.load(ordering: .acquiring) ? first.withLock { $0 } : nil }

  /// Whether memory and handles of the device may be freed: the device has not failed, so no unknown work is using
  /// them.
  package var mayFree: Bool { !isOut.load(ordering: .acquiring) }

  /// Marks the device as failed. The first failure is kept.
  ///
  /// - Returns: whether the device had not failed before.
  @discardableResult
  package func takeOut(_ failure: DeviceError) -> Bool {
    first.withLock { first in
      guard first == nil else { return false }
      first = failure
      isOut.store(true, ordering: .releasing)
      return true
    }
  }

  /// - Throws: the failure of the device.
  package func check() throws(DeviceError) {
    if let failure { throw failure }
  }

  /// The seconds that a submission may take: the highest limit of anything compiled for the device.
  package var patience: Double {
    let seconds = Double(bitPattern: allowed.load(ordering: .relaxed))
    return min(seconds > 0 ? seconds : initial, Double(bitPattern: most.load(ordering: .relaxed)))
  }

  /// The base limit of preparation: compilation and first runs. It is never below the limit that the device was opened
  /// with, since `allow` concerns runs.
  var preparation: Double { min(max(patience, initial), Double(bitPattern: mostPreparation.load(ordering: .relaxed))) }

  /// Raises the time limit to at least this many seconds, for work about to be compiled or run.
  package func allow(_ seconds: Double) {
    precondition(seconds > 0)
    allowed.max(seconds.bitPattern, ordering: .relaxed)
  }

  /// Caps the time limit from now on, for pending work too, regardless of `allow`.
  ///
  /// - Parameter preparation: the cap of the limit of preparation; nil for the same.
  package func allowNoMore(than seconds: Double, preparation: Double? = nil) {
    precondition(seconds > 0)
    most.store(seconds.bitPattern, ordering: .relaxed)
    mostPreparation.store((preparation ?? seconds).bitPattern, ordering: .relaxed)
  }

  /// The bytes that this process holds on the device.
  package var heldByteCount: Int { held.load(ordering: .relaxed) }

  package func took(byteCount: Int) {
    mostHeld.max(held.add(byteCount, ordering: .relaxed).newValue, ordering: .relaxed)
  }

  package func freed(byteCount: Int) { held.subtract(byteCount, ordering: .relaxed) }

  /// Returns the most bytes that this process held on the device at once since the previous call.
  package func takeMostHeld() -> Int { mostHeld.exchange(heldByteCount, ordering: .relaxed) }
}

/// Returns the seconds for which the system was awake.
@Sendable package func secondsAwake() -> Double {
  let (seconds, attoseconds) = (SuspendingClock.now - awakeningMoment).components
  return Double(seconds) + Double(attoseconds) * 1e-18
}

private let awakeningMoment = SuspendingClock.now

extension DeviceHealth {
  /// The state of the device's queue, which executes submissions in order.
  private struct Queue {
    var begun = 0
    /// The total allowance of all submissions so far.
    var allowance = Allowance()
    /// The latest submission known to have ended, with all before it; their total allowance; and the time when this
    /// was found.
    var ended = 0
    var endedAllowance = Allowance()
    var lastEnd = -Double.infinity
  }

  /// The time of submissions, in multiples of `patience` and of `preparation`.
  fileprivate struct Allowance: Hashable {
    var runs = 0.0
    var preparations = 0.0

    static func + (one: Self, other: Self) -> Self {
      Self(runs: one.runs + other.runs, preparations: one.preparations + other.preparations)
    }

    static func - (one: Self, other: Self) -> Self {
      Self(runs: one.runs - other.runs, preparations: one.preparations - other.preparations)
    }

    func seconds(_ health: DeviceHealth) -> Double { runs * health.patience + preparations * health.preparation }
  }

  /// A piece of work submitted to the device.
  package struct Submission: Hashable, Sendable {
    fileprivate let number: Int
    fileprivate let began: Double
    /// Its own allowance, and the total up to it.
    fileprivate let allowance: Allowance
    fileprivate let allowanceThrough: Allowance
  }

  /// Records a submission.
  ///
  /// - Parameter mayCompile: whether it is a program's first run, in which some drivers compile it on threads of
  ///   their own.
  package func submitted(mayCompile: Bool = false) -> Submission {
    let now = now()
    return queue.withLock { queue in
      let allowance = mayCompile ? Allowance(preparations: Self.firstRun) : Allowance(runs: 1)
      queue.begun += 1
      queue.allowance = queue.allowance + allowance
      return Submission(number: queue.begun, began: now, allowance: allowance, allowanceThrough: queue.allowance)
    }
  }

  /// Waits for the end of a submission.
  ///
  /// Each submission is allowed `patience` for itself and for each earlier one not known to have ended. The time
  /// counts from its own beginning, or from the end of the latest earlier submission known to have ended. It does not
  /// depend on when the caller waits. A sign of life of a software driver allows `patience` again, up to `aliveFactor`
  /// times `preparation` more.
  ///
  /// - Parameters:
  ///   - place: the call concerned.
  ///   - attempt: waits at most the given seconds; returns whether the submission has ended.
  /// - Returns: the seconds that it took, if the wait observed its end; 0 if it may have ended before.
  /// - Throws: `.hung`, and marks the device as failed, if the submission does not end in time; an earlier failure of
  ///   the device; the errors of `attempt`.
  @discardableResult
  package func wait(
    _ device: String, _ place: String, for submission: Submission,
    _ attempt: (_ seconds: Double) throws(DeviceError) -> Bool
  ) throws(DeviceError) -> Double {
    var signs = LifeSigns()
    let longest = processorTime == nil ? 1 : Self.betweenLooks
    while true {
      try check()
      let (began, patience) = (now(), patience)
      // The last attempt also waits a little, since the whole process may have been stopped.
      let left = deadline(of: submission, signs) - began
      let seconds = min(max(left, patience * Self.lastLook), patience * longest)
      let isOver = try attempt(seconds)
      DriverThread.beat()
      if isOver { return end(submission, watchedFor: now() - began) }
      results.doubt()
      // A driver that returns early is not asked again at once: the calls would look like its work.
      if now() - began < seconds / 2 { usleep(Self.pause) }
      signs.look(at: now(), self)
      guard deadline(of: submission, signs) <= now() else { continue }
      let failure = DeviceError.hung(device, place, seconds: submission.allowance.seconds(self))
      takeOut(failure)
      throw self.failure ?? failure
    }
  }

  /// The allowance of a program's first run, in multiples of `preparation`.
  private static let firstRun = 3.0
  /// By how many times `preparation` signs of life extend a limit.
  static let aliveFactor = 12.0
  /// The share of `patience` that a last attempt waits.
  private static let lastLook = 0.1
  /// The microseconds between two waits if the driver does not wait.
  private static let pause: UInt32 = 20_000
  /// The share of `patience` between two looks for signs of life.
  static let betweenLooks = 0.25
  /// The seconds from which on a wait is taken to have observed the end.
  private static let noticeable = 1e-3

  /// Whether a submission is known to have ended, because a wait has observed its end or that of a later one.
  package func hasEnded(_ submission: Submission) -> Bool { queue.withLock { submission.number <= $0.ended } }

  /// The number of submissions not known to have ended.
  var outstanding: Int { queue.withLock { $0.begun - $0.ended } }

  private func deadline(of submission: Submission, _ signs: LifeSigns) -> Double {
    let allowed = queue.withLock { queue in
      max(submission.began, queue.lastEnd)
        + max(
          submission.allowance.seconds(self), (submission.allowanceThrough - queue.endedAllowance).seconds(self))
    }
    return max(allowed, min(signs.latest + patience, allowed + preparation * Self.aliveFactor))
  }

  private func end(_ submission: Submission, watchedFor seconds: Double) -> Double {
    let now = now()
    return queue.withLock { queue in
      let start = max(submission.began, queue.lastEnd)
      if submission.number > queue.ended {
        (queue.ended, queue.endedAllowance, queue.lastEnd) = (submission.number, submission.allowanceThrough, now)
      }
      return seconds >= Self.noticeable ? now - start : 0
    }
  }
}

extension DeviceError {
  /// Returns the error for submitted work that did not end within `seconds`.
  package static func hung(_ device: String, _ place: String, seconds: Double) -> DeviceError {
    DeviceError(
      .hung, device: device, place: place,
      reason: "did not finish within \(seconds.inSecondsText); --device-timeout allows more")
  }

  /// Returns the error of a failed wait as a device loss, since the device may still be executing.
  package func asLoss() -> DeviceError {
    code == .lost || code == .hung
      ? self : DeviceError(.lost, device: device, place: place, reason: "\(reason); the operation is not known")
  }
}

extension Double {
  var inSecondsText: String { self == rounded() ? "\(Int(clamping: Int64(self))) s" : "\(self) s" }
}

/// Memory that a failed device may still access. It lives as long as the process.
package enum LeakedResources {
  private struct Kept: @unchecked Sendable { let object: Any }
  private static let kept = Mutex<[Kept]>([])

  package static func keep(_ object: Any) { kept.withLock { $0.append(Kept(object: object)) } }

  /// The number of leaked objects.
  package static var count: Int { kept.withLock { $0.count } }
}
