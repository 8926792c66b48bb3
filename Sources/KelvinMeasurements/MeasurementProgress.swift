/// How far a measurement has come.
package struct MeasurementProgress: Sendable, Hashable {
  /// What is known of one configuration so far.
  package struct Row: Sendable, Hashable {
    package var label: String
    /// Answers a second; nil where there are none yet.
    package var rate: Double?
    /// Of the latest inferences, in seconds.
    package var p50: Double?
    package var p90: Double?
    package var dropped: Int
    /// Heat, or why it takes no further part; empty where there is nothing to say.
    package var state: String
    /// Whether it is this one's turn.
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

  /// What is going on: `warm inferences`.
  package var phase: String
  /// Of the whole, 0…1.
  package var fraction: Double
  /// Whose turn it is, or live numbers in words; empty where there are none yet.
  package var detail: String
  /// One for each configuration that has been measured at all.
  package var rows: [Row]
  /// Of the whole, as far as it can be told.
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
