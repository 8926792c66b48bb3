import Synchronization

/// Whether a device can be relied on: the one answer for all models of the process.
///
/// A device that was lost, or did not finish in time, is out for good. Nothing is submitted to it again, and what it may
/// still read or write stays where it is: its owners ask `mayFree`, and give host memory to the `Graveyard`.
package final class DeviceHealth: Sendable {
  private let isOut = Atomic(false)
  private let first = Mutex<DeviceError?>(nil)
  /// The bits of the seconds allowed so far, which grow as the number does; 0 at first.
  private let allowed = Atomic<UInt64>(0)
  private let completions = Atomic(0)

  package init() {}

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

  /// Seconds without the end of any submission after which the device counts as hung: the most that anything compiled
  /// for it may take. Submissions share a queue, so that a short one waits for the long ones before it.
  package var patience: Double {
    let seconds = Double(bitPattern: allowed.load(ordering: .relaxed))
    return seconds > 0 ? seconds : Watchdog.standard.floor
  }

  /// Allows what is about to be compiled or run so many seconds.
  package func allow(_ seconds: Double) {
    precondition(seconds > 0)
    allowed.max(seconds.bitPattern, ordering: .relaxed)
  }

  /// Waits for work of the device that ends when it will.
  ///
  /// - Parameters:
  ///   - place: the call concerned.
  ///   - attempt: waits at most so many seconds; answers whether the work has ended.
  /// - Throws: `.hung`, and takes the device out, where `patience` passes and nobody's work ends on the device; what took
  ///   it out before; what `attempt` throws.
  package func wait(
    _ device: String, _ place: String, _ attempt: (_ seconds: Double) throws(DeviceError) -> Bool
  ) throws(DeviceError) {
    while true {
      try check()
      let (before, seconds) = (completions.load(ordering: .relaxed), patience)
      if try attempt(seconds) {
        completions.add(1, ordering: .relaxed)
        return
      }
      guard before == completions.load(ordering: .relaxed) else { continue }
      let failure = DeviceError.hung(device, place, seconds: seconds)
      takeOut(failure)
      throw self.failure ?? failure
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
  fileprivate var inSecondsText: String { self == rounded() ? "\(Int(clamping: Int64(self))) s" : "\(self) s" }
}

/// Memory that a device which is out may still read or write. It lives as long as the process.
package enum Graveyard {
  private struct Kept: @unchecked Sendable { let object: Any }
  private static let kept = Mutex<[Kept]>([])

  package static func keep(_ object: Any) { kept.withLock { $0.append(Kept(object: object)) } }

  /// How much is kept.
  package static var count: Int { kept.withLock { $0.count } }
}
