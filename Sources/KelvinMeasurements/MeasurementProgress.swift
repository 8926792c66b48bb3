/// The progress of a measurement.
package struct MeasurementProgress: Sendable, Hashable {
  /// The measurements of one configuration so far.
  package struct Row: Sendable, Hashable {
    package var label: String
    /// Answers per second; nil before the first answer.
    package var rate: Double?
    /// The median of the latest inferences, in seconds.
    package var p50: Double?
    package var p90: Double?
    package var dropped: Int
    /// The thermal state, or the reason of a failure; empty for none.
    package var state: String
    /// Whether the configuration is being measured.
    package var isRunning: Bool

    package init(
      label: String, rate: Double?, p50: Double?, p90: Double?, dropped: Int, state: String, isRunning: Bool
    ) {
      self.label = label
      self.rate = rate
      self.p50 = p50
      self.p90 = p90
      self.dropped = dropped
      self.state = state
      self.isRunning = isRunning
    }
  }

  /// The current activity: `warm inferences`.
  package var phase: String
  /// The completed fraction of the whole, 0…1.
  package var fraction: Double
  /// The configuration being measured, or current values in words; may be empty.
  package var detail: String
  /// One row for each configuration with measurements.
  package var rows: [Row]
  /// The expected seconds to the end; nil when they cannot be estimated.
  package var secondsLeft: Double?

  package init(
    phase: String, fraction: Double, detail: String = "", rows: [Row] = [], secondsLeft: Double? = nil
  ) {
    self.phase = phase
    self.fraction = min(max(fraction, 0), 1)
    self.detail = detail
    self.rows = rows
    self.secondsLeft = secondsLeft
  }
}

package typealias MeasurementObserver = (MeasurementProgress) -> Void
