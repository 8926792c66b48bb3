import Synchronization

/// Whether a device can be relied on: the one answer for all models of the process.
///
/// A device that was lost, or did not finish in time, is out for good. Nothing is submitted to it again, and what it may
/// still read or write stays where it is: its owners ask `mayFree`, and give host memory to the `LeakedResources`.
package final class DeviceHealth: Sendable {
  private let isOut = Atomic(false)
  private let first = Mutex<DeviceError?>(nil)
  private let initial: Double
  /// The bits of the seconds allowed so far, which grow as the number does; 0 at first.
  private let allowed = Atomic<UInt64>(0)
  private let queue = Mutex(Queue())
  /// The bits of the seconds that nothing is allowed more than.
  private let most = Atomic(Double.infinity.bitPattern)
  private let held = Atomic(0)
  /// Threads that have the device's driver compile something.
  let compilations = Atomic(0)
  private let now: @Sendable () -> Double

  /// - Parameters:
  ///   - patience: seconds that anything may take until `allow` is called.
  ///   - now: seconds since some moment.
  package init(
    patience: Double = Watchdog.standard.floor, now: @escaping @Sendable () -> Double = secondsAwake
  ) {
    precondition(patience > 0)
    initial = patience
    self.now = now
  }

  /// Why the device is out; nil while it can be relied on.
  package var failure: DeviceError? { isOut.load(ordering: .acquiring) ? first.withLock { $0 } : nil }

  /// Whether memory and handles of the device may go: nothing that it was given is at work on them.
  package var mayFree: Bool { !isOut.load(ordering: .acquiring) }

  /// Takes the device out. The first failure is the one that is told.
  ///
  /// - Returns: whether it was not out before.
  @discardableResult
  package func takeOut(_ failure: DeviceError) -> Bool {
    first.withLock { first in
      guard first == nil else { return false }
      first = failure
      isOut.store(true, ordering: .releasing)
      return true
    }
  }

  /// - Throws: what took the device out.
  package func check() throws(DeviceError) {
    if let failure { throw failure }
  }

  /// Seconds that a submission may take: the most that anything compiled for the device is allowed.
  package var patience: Double {
    let seconds = Double(bitPattern: allowed.load(ordering: .relaxed))
    return min(seconds > 0 ? seconds : initial, Double(bitPattern: most.load(ordering: .relaxed)))
  }

  /// Allows what is about to be compiled or run so many seconds.
  package func allow(_ seconds: Double) {
    precondition(seconds > 0)
    allowed.max(seconds.bitPattern, ordering: .relaxed)
  }

  /// Allows nothing more than so many seconds from now on, what is under way included, whatever `allow` says.
  package func allowNoMore(than seconds: Double) {
    precondition(seconds > 0)
    most.store(seconds.bitPattern, ordering: .relaxed)
  }

  /// Bytes of the device that this process holds.
  package var heldByteCount: Int { held.load(ordering: .relaxed) }

  package func took(byteCount: Int) { held.add(byteCount, ordering: .relaxed) }

  package func freed(byteCount: Int) { held.subtract(byteCount, ordering: .relaxed) }
}

/// Seconds for which the system was awake.
@Sendable package func secondsAwake() -> Double {
  let (seconds, attoseconds) = (SuspendingClock.now - awakeningMoment).components
  return Double(seconds) + Double(attoseconds) * 1e-18
}

private let awakeningMoment = SuspendingClock.now

extension DeviceHealth {
  /// What is known of the device's queue, which does what it is given in order.
  private struct Queue {
    var begun = 0
    /// What all that were begun are allowed together, in times of `patience`.
    var allowance = 0.0
    /// The latest submission that is known to be over, and so are those before it; what they were allowed together; when
    /// that was found.
    var ended = 0
    var endedAllowance = 0.0
    var lastEnd = -Double.infinity
  }

  /// A piece of work that the device was given.
  package struct Submission: Hashable, Sendable {
    fileprivate let number: Int
    fileprivate let began: Double
    /// In times of `patience`: its own, and together with all before it.
    fileprivate let allowance: Double
    fileprivate let allowanceThrough: Double
  }

  /// Notes that the device was given something.
  ///
  /// - Parameter mayCompile: it is a program's first run, which some drivers compile it in, on threads of their own.
  package func submitted(mayCompile: Bool = false) -> Submission {
    let now = now()
    return queue.withLock { queue in
      let allowance = mayCompile ? Self.firstRun : 1
      queue.begun += 1
      queue.allowance += allowance
      return Submission(number: queue.begun, began: now, allowance: allowance, allowanceThrough: queue.allowance)
    }
  }

  /// Waits for the end of a submission.
  ///
  /// Each submission is allowed `patience`, counted from its own beginning or from the end of the latest before it that is
  /// known to be over, for itself and for each before it that is not: whenever anybody looks.
  ///
  /// - Parameters:
  ///   - place: the call concerned.
  ///   - attempt: waits at most so many seconds; answers whether the submission is over.
  /// - Returns: seconds that it took, where the wait saw its end; 0 where it may have been over before.
  /// - Throws: `.hung`, and takes the device out, where it is not over in time; what took it out before; what `attempt`
  ///   throws.
  @discardableResult
  package func wait(
    _ device: String, _ place: String, for submission: Submission,
    _ attempt: (_ seconds: Double) throws(DeviceError) -> Bool
  ) throws(DeviceError) -> Double {
    while true {
      try check()
      let (began, patience) = (now(), patience)
      // A last look is given some time: the whole process may have been stopped.
      let left = deadline(of: submission, patience) - began
      let isOver = try attempt(min(max(left, patience * Self.lastLook), patience * submission.allowance))
      DriverThread.beat()
      if isOver { return end(submission, watchedFor: now() - began) }
      guard deadline(of: submission, patience) <= now() else { continue }
      let failure = DeviceError.hung(device, place, seconds: patience * submission.allowance)
      takeOut(failure)
      throw self.failure ?? failure
    }
  }

  /// What a program's first run is allowed, in times of `patience`: one kernel of one program is compiled in it at most.
  private static let firstRun = 3.0
  /// The part of `patience` that a submission gets once somebody looks.
  private static let lastLook = 0.1
  /// Seconds: a wait that took so long saw the end.
  private static let noticeable = 1e-3

  /// Submissions that are not known to be over.
  var outstanding: Int { queue.withLock { $0.begun - $0.ended } }

  private func deadline(of submission: Submission, _ patience: Double) -> Double {
    queue.withLock { queue in
      max(submission.began, queue.lastEnd)
        + patience * max(submission.allowance, submission.allowanceThrough - queue.endedAllowance)
    }
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
  /// Nothing that a device was given ended for `seconds`.
  package static func hung(_ device: String, _ place: String, seconds: Double) -> DeviceError {
    DeviceError(
      .hung, device: device, place: place,
      reason: "did not finish within \(seconds.inSecondsText); --device-timeout allows more")
  }

  /// A wait that failed: nobody knows whether the device is still at work.
  package func asLoss() -> DeviceError {
    code == .lost || code == .hung
      ? self : DeviceError(.lost, device: device, place: place, reason: "\(reason); what it was doing is not known")
  }
}

extension Double {
  var inSecondsText: String { self == rounded() ? "\(Int(clamping: Int64(self))) s" : "\(self) s" }
}

/// Memory that a device which is out may still read or write. It lives as long as the process.
package enum LeakedResources {
  private struct Kept: @unchecked Sendable { let object: Any }
  private static let kept = Mutex<[Kept]>([])

  package static func keep(_ object: Any) { kept.withLock { $0.append(Kept(object: object)) } }

  /// How much is kept.
  package static var count: Int { kept.withLock { $0.count } }
}
