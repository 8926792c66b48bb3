import Glibc
import KelvinMeasurements

/// The processor's effective clock from a chain of dependent multiplications.
///
/// Every step needs the one before, so the chain takes `steps × latency / f` whatever else the core could do. The
/// latency (4 cycles for a 64-bit multiplication and an exclusive-or on current x86) cancels in the ratio to a
/// reference; the absolute clock is indicative only. A neighbour slows the chain as surely as heat does, so a ratio
/// counts only while steal and pressure are flat. A core alone runs faster than among busy ones, so a busy machine is
/// compared with itself when it was busy and cool, an idle one with itself.
package struct ClockProbe: Sendable, Hashable {
  package static let cyclesPerStep = 4.0

  package let steps: Int
  package let repeats: Int
  /// Steps per second in the first cool window, of an idle machine and of a busy one.
  private var idleReference: Double?
  private var busyReference: Double?

  /// The default takes about 1 ms at 3 GHz.
  package init(steps: Int = 150_000, repeats: Int = 5) {
    self.steps = max(1, steps)
    self.repeats = max(1, repeats)
  }

  /// Steps per second, the best of `repeats`.
  ///
  /// The chain's value lives beside the time in one allocation that the clock's call may touch, so the compiler can
  /// move the chain neither before the first reading nor behind the second.
  package func measure() -> Double {
    let memory = UnsafeMutablePointer<timespec>.allocate(capacity: 2)
    defer { memory.deallocate() }
    memory.initialize(repeating: timespec(), count: 2)
    var shortest = Double.infinity
    for _ in 0..<repeats {
      clock_gettime(CLOCK_MONOTONIC, memory)
      let start = MonotonicClock.seconds(memory[0])
      memory[1].tv_nsec = Self.chain(steps: steps, seed: memory[1].tv_nsec)
      clock_gettime(CLOCK_MONOTONIC, memory)
      let seconds = MonotonicClock.seconds(memory[0]) - start
      if seconds > 0 { shortest = min(shortest, seconds) }
    }
    return shortest.isFinite ? Double(steps) / shortest : 0
  }

  /// Takes the best value of the first cool window as the reference for such load.
  package mutating func calibrate(stepsPerSecond: Double, contention: Contention?) {
    guard stepsPerSecond > 0, stepsPerSecond.isFinite else { return }
    if Self.isBusy(contention) {
      busyReference = max(busyReference ?? 0, stepsPerSecond)
    } else {
      idleReference = max(idleReference ?? 0, stepsPerSecond)
    }
  }

  /// Effective over reference clock, or nil when it cannot be told from contention.
  package func ratio(stepsPerSecond: Double, contention: Contention?) -> Double? {
    guard let contention, contention.isFlat, stepsPerSecond > 0, stepsPerSecond.isFinite,
      let reference = Self.isBusy(contention) ? busyReference : idleReference
    else { return nil }
    return stepsPerSecond / reference
  }

  private static func isBusy(_ contention: Contention?) -> Bool {
    (contention?.utilisation ?? 0) >= ClockReliability.busyShare
  }

  /// Multiply and exclusive-or do not distribute, so no compiler can fold several steps into one.
  @inline(never)
  private static func chain(steps: Int, seed: Int) -> Int {
    var value = seed
    for _ in 0..<steps { value = (value &* 0x5851_F42D_4C95_7F2D) ^ 0x1405_7B7E_F767_814F }
    return value
  }
}
