import Glibc
import KelvinMeasurements

/// Measures the processor's effective clock with a chain of dependent multiplications.
///
/// Every step needs the previous one, so the chain takes `steps × latency / f` on any core. The latency (4 cycles for a
/// 64-bit multiplication and an exclusive-or on current x86) cancels in the ratio to a reference; the absolute clock is
/// approximate.
///
/// Other processes slow the chain as heat does, so a ratio is valid only while steal and pressure are low. A single
/// busy core runs faster than one among many, so a busy machine is compared with its busy cool reference, and an idle
/// machine with its idle reference.
package struct ClockProbe: Sendable, Hashable {
  package let steps: Int
  package let repeats: Int
  /// Steps per second in the first cool window, of an idle machine and of a busy one.
  private var idleReference: Double?
  private var busyReference: Double?

  /// Creates a probe. The default takes about 1 ms at 3 GHz.
  package init(steps: Int = 150_000, repeats: Int = 5) {
    self.steps = max(1, steps)
    self.repeats = max(1, repeats)
  }

  /// Returns steps per second, the best of `repeats`.
  ///
  /// The chain's value is stored beside the time in one allocation that the clock's call may access, so the compiler
  /// cannot move the chain before the first reading or after the second. In a caller, it could leave the chain out.
  @inline(never)
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

  /// Uses the best value of the first cool window as the reference for similar load.
  package mutating func calibrate(stepsPerSecond: Double, contention: Contention?) {
    guard stepsPerSecond > 0, stepsPerSecond.isFinite else { return }
    if Self.isBusy(contention) {
      busyReference = max(busyReference ?? 0, stepsPerSecond)
    } else {
      idleReference = max(idleReference ?? 0, stepsPerSecond)
    }
  }

  /// Returns the ratio of the effective to the reference clock; nil when it cannot be distinguished from contention.
  package func ratio(stepsPerSecond: Double, contention: Contention?) -> Double? {
    guard let contention, contention.isFlat, stepsPerSecond > 0, stepsPerSecond.isFinite,
      let reference = Self.isBusy(contention) ? busyReference : idleReference
    else { return nil }
    return stepsPerSecond / reference
  }

  private static func isBusy(_ contention: Contention?) -> Bool {
    (contention?.utilisation ?? 0) >= ClockReliability.busyShare
  }

  /// Multiplication and exclusive-or do not distribute, so the compiler cannot merge several steps.
  @inline(never)
  private static func chain(steps: Int, seed: Int) -> Int {
    var value = seed
    for _ in 0..<steps { value = (value &* 0x5851_F42D_4C95_7F2D) ^ 0x1405_7B7E_F767_814F }
    return value
  }
}
