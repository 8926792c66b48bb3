/// How long each phase of a run takes, as far as it is known: at first from what is asked for and what plans predict,
/// then from what was measured. Everything that is said of the time left comes from here.
package struct RunEstimate: Sendable, Hashable {
  package enum Phase: Int, Sendable, Hashable, CaseIterable {
    case preparation, coldStarts, starts, warm, sustained, agreement
  }

  /// Seconds of each whole phase.
  private var expected: [Double]
  private var began = 0.0
  private var spent = 0.0
  package private(set) var current = Phase.preparation
  /// How many times as much as was planned the current phase does: rounds are added where they decide nothing.
  private var scale = 1.0

  package init(at now: Double) {
    expected = Phase.allCases.map { _ in 0 }
    began = now
  }

  package mutating func expect(_ phase: Phase, _ seconds: Double) {
    expected[phase.rawValue] = seconds.isFinite ? max(0, seconds) : 0
  }

  package func expected(_ phase: Phase) -> Double { expected[phase.rawValue] }

  package mutating func begin(_ phase: Phase, at now: Double) {
    spent += max(0, now - began)
    (current, began, scale) = (phase, now, 1)
  }

  /// The current phase will do this many times what was planned, as far as it can be told.
  package mutating func extend(to scale: Double) { self.scale = max(1, scale) }

  /// - Parameters:
  ///   - share: of what was planned of the current phase; more than 1 where it goes on.
  ///   - known: seconds to the end of the phase, where the caller knows better.
  /// - Returns: seconds to the end of the run, and the part of it that is over, 0…1.
  package func outlook(_ share: Double, left known: Double? = nil, at now: Double) -> (left: Double, fraction: Double) {
    let elapsed = max(0, now - began)
    let share = min(max(share / scale, 0), 1)
    let later = expected[(current.rawValue + 1)...].reduce(0, +)
    let left = (known ?? rest(share, elapsed)) + later
    let over = spent + elapsed
    return (left, over + left > 0 ? over / (over + left) : 0)
  }

  /// What was expected counts less the more of the phase was seen.
  private func rest(_ share: Double, _ elapsed: Double) -> Double {
    let expected = expected[current.rawValue] * scale
    guard share > 0 else { return max(0, expected - elapsed) }
    let trust = min(1, 4 * share)
    return (1 - share) * ((1 - trust) * expected + trust * elapsed / share)
  }
}
