/// Seconds that something is expected to take, and by how many that may be wrong.
package struct EstimatedSeconds: Sendable, Hashable {
  package var seconds: Double
  /// Infinite where nothing is known.
  package var doubt: Double

  package static let zero = EstimatedSeconds(0)

  package init(_ seconds: Double, doubt: Double = 0) {
    self.seconds = seconds.isFinite ? max(0, seconds) : 0
    self.doubt = doubt.isNaN ? .infinity : max(0, doubt)
  }

  /// Whether it is right within a third.
  var isTold: Bool { doubt <= seconds / 3 }

  package static func + (one: Self, other: Self) -> Self {
    Self(one.seconds + other.seconds, doubt: one.doubt + other.doubt)
  }

  /// What is taken no times has no doubt either.
  package static func * (one: Self, times: Double) -> Self {
    times > 0 ? Self(one.seconds * times, doubt: one.doubt * times) : .zero
  }
}

/// How long each phase of a run takes, as far as it is known: at first from what is asked for and what plans predict,
/// then from what was measured. Everything that is said of the time left comes from here, and where that may be wrong by
/// more than a third nothing is said.
package struct RunEstimate: Sendable, Hashable {
  package enum Phase: Int, Sendable, Hashable, CaseIterable {
    case preparation, coldStarts, starts, warm, sustained, agreement
  }

  /// Of each whole phase.
  private var expected: [EstimatedSeconds]
  private var began = 0.0
  private var spent = 0.0
  package private(set) var current = Phase.preparation
  /// How many times as much as was planned the current phase does: rounds are added where they decide nothing.
  private var scale = 1.0

  package init(at now: Double) {
    expected = Phase.allCases.map { _ in .zero }
    began = now
  }

  package mutating func expect(_ phase: Phase, _ time: EstimatedSeconds) { expected[phase.rawValue] = time }

  package func expected(_ phase: Phase) -> EstimatedSeconds { expected[phase.rawValue] }

  package mutating func begin(_ phase: Phase, at now: Double) {
    spent += max(0, now - began)
    (current, began, scale) = (phase, now, 1)
  }

  /// The current phase will do this many times what was planned, as far as it can be told.
  package mutating func extend(to scale: Double) { self.scale = max(1, scale) }

  /// - Parameters:
  ///   - share: of what was planned of the current phase; more than 1 where it goes on.
  ///   - known: to the end of the phase, where the caller knows better.
  /// - Returns: seconds to the end of the run, nil where they may be wrong by more than a third, and the part of it that
  ///   is over, 0…1.
  package func outlook(
    _ share: Double, left known: EstimatedSeconds? = nil, at now: Double
  ) -> (left: Double?, fraction: Double) {
    let elapsed = max(0, now - began)
    let share = min(max(share / scale, 0), 1)
    let left = expected[(current.rawValue + 1)...].reduce(known ?? rest(share, elapsed), +)
    let over = spent + elapsed
    return (left.isTold ? left.seconds : nil, over + left.seconds > 0 ? over / (over + left.seconds) : 0)
  }

  /// What was expected counts less the more of the phase was seen.
  private func rest(_ share: Double, _ elapsed: Double) -> EstimatedSeconds {
    let expected = expected[current.rawValue] * scale
    guard share > 0 else { return EstimatedSeconds(expected.seconds - elapsed, doubt: expected.doubt) }
    let trust = min(1, 4 * share)
    return expected * ((1 - trust) * (1 - share)) + EstimatedSeconds((1 - share) * trust * elapsed / share)
  }
}
