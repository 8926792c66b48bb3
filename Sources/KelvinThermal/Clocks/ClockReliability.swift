/// Whether the clock that the kernel shows is the hardware's, and what it says about throttling.
///
/// A guest is shown a constant nominal clock, and so are some machines: a clock counts only on bare metal and once it has
/// moved. An idle governor lowers it too, so it counts only while more than half of the machine is busy, against the
/// highest value seen so while cool.
struct ClockReliability: Sendable, Hashable {
  static let busyShare = 0.5

  let isVirtualised: Bool
  private var lowest = Double.infinity
  private var highest = 0.0
  private var reference: Double?

  init(isVirtualised: Bool) { self.isVirtualised = isVirtualised }

  /// Present over reference clock, at most 1; nil while it is not believed.
  mutating func ratio(_ clock: ClockReading?, utilisation: Double?, isCool: Bool) -> Double? {
    guard !isVirtualised, let clock else { return nil }
    lowest = min(lowest, clock.hertz)
    highest = max(highest, clock.hertz)
    guard lowest < 0.99 * highest, let utilisation, utilisation >= Self.busyShare else { return nil }
    if isCool { reference = max(reference ?? 0, clock.hertz) }
    return reference.map { min(1, clock.hertz / $0) }
  }
}
