/// The time limit of a submission, after which the device counts as hung.
package struct Watchdog: Hashable, Sendable {
  /// The minimum limit in seconds, for any submission.
  package var floor: Double
  /// The limit as a multiple of the expected time, if that is more than `floor`.
  package var multiple: Double

  /// - Precondition: both are above 0.
  package init(floor: Double = 10, multiple: Double = 20) {
    precondition(floor > 0 && multiple > 0)
    self.floor = floor
    self.multiple = multiple
  }

  package static let standard = Watchdog()

  /// Returns the limit in seconds for a submission expected to take `seconds`.
  package func limit(expecting seconds: Double) -> Double { max(floor, multiple * seconds) }
}
