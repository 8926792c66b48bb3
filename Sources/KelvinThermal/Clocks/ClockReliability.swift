/// Determines whether the clock that the kernel reports is the hardware's, and its ratio to a reference.
///
/// Guests and some machines report a constant nominal clock, so a clock counts only on bare metal and after it has
/// changed. An idle governor lowers it too, so it counts only while at least half of the machine is busy. The reference
/// is the highest value in this state while cool.
struct ClockReliability: Sendable, Hashable {
  static let busyShare = 0.5

  let isVirtualised: Bool
  private var lowest = Double.infinity
  private var highest = 0.0
  private var reference: Double?

  init(isVirtualised: Bool) { self.isVirtualised = isVirtualised }

  /// Returns the ratio of the present to the reference clock, at most 1; nil while the clock is not reliable.
  mutating func ratio(_ clock: ClockReading?, utilisation: Double?, isCool: Bool) -> Double? {
    guard !isVirtualised, let clock else { return nil }
    lowest = min(lowest, clock.hertz)
    highest = max(highest, clock.hertz)
    guard lowest < 0.99 * highest, let utilisation, utilisation >= Self.busyShare else { return nil }
    if isCool { reference = max(reference ?? 0, clock.hertz) }
    return reference.map { min(1, clock.hertz / $0) }
  }
}
