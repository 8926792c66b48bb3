import KelvinBasics
package import KelvinMeasurements

/// The energy of one inference above idle, in joules.
package struct InferenceEnergy: Sendable, Hashable {
  /// The mean; nil when the energy is unknown, or when it was measured and its interval includes 0.
  package let joules: Double?
  /// The 95 % interval of a measured energy; nil for estimates and for fewer than two slices.
  package let interval: ConfidenceInterval?
  /// The upper end of an interval that includes 0; nil when the energy was told from that of rest.
  package let below: Double?

  /// - Parameters:
  ///   - joules: the mean, which is below zero when noise exceeds the energy.
  ///   - doubt: half the width of the 95 % interval; nil when unknown.
  package init(_ joules: Double?, doubt: Double?) {
    interval = joules.flatMap { joules in
      doubt.map { ConfidenceInterval(lower: joules - $0, upper: joules + $0, confidence: 0.95) }
    }
    below = interval.flatMap { $0.lower <= 0 ? max($0.upper, 0) : nil }
    self.joules = below == nil ? joules.map { max($0, 0) } : nil
  }

  /// The mean, or the most that an energy which was not told from rest can be; nil when the energy is unknown.
  package var atMost: Double? { joules ?? below }

  /// `12.3 mJ (12.0 to 12.6)`, or `below 0.2 mJ`; nil when the energy is unknown.
  package var text: String? {
    func millijoules(_ joules: Double) -> String { HumanReadable.significant(joules * 1e3) }
    if let below { return "below \(millijoules(below)) mJ" }
    guard let joules else { return nil }
    let range = interval.map { " (\(millijoules($0.lower)) to \(millijoules($0.upper)))" } ?? ""
    return "\(millijoules(joules)) mJ\(range)"
  }
}
