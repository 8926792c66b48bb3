/// How long a device may be at work on one submission before it counts as hung.
package struct Watchdog: Hashable, Sendable {
  /// Seconds that any submission may take.
  package var floor: Double
  /// How many times as long as it is expected to take, where that is more.
  package var multiple: Double

  /// - Precondition: both are above 0.
  package init(floor: Double = 10, multiple: Double = 20) {
    precondition(floor > 0 && multiple > 0)
    self.floor = floor
    self.multiple = multiple
  }

  package static let standard = Watchdog()

  /// Seconds that a submission may take which is expected to take `seconds`.
  package func limit(expecting seconds: Double) -> Double { max(floor, multiple * seconds) }
}
