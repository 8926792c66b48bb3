/// An expected duration in seconds, and its uncertainty.
package struct EstimatedSeconds: Sendable, Hashable {
  package var seconds: Double
  /// The largest error in seconds; infinite when nothing is known.
  package var doubt: Double

  package static let zero = EstimatedSeconds(0)

  package init(_ seconds: Double, doubt: Double = 0) {
    self.seconds = seconds.isFinite ? max(0, seconds) : 0
    self.doubt = doubt.isNaN ? .infinity : max(0, doubt)
  }

  /// Whether the largest error is at most a third of the value.
  var isTold: Bool { doubt <= seconds / 3 }

  package static func + (one: Self, other: Self) -> Self {
    Self(one.seconds + other.seconds, doubt: one.doubt + other.doubt)
  }

  /// Scales the duration. Zero repetitions have no uncertainty.
  package static func * (one: Self, times: Double) -> Self {
    times > 0 ? Self(one.seconds * times, doubt: one.doubt * times) : .zero
  }
}

/// A phase of a measurement. Phases are numbered from 0 in their order.
package protocol MeasurementPhase: RawRepresentable<Int>, CaseIterable, Sendable, Hashable {}

/// The expected duration of each phase of a run: first from the request and the plans' predictions, then from
/// measurements. The remaining time is reported only when its error is at most a third.
package struct RunEstimate<Phase: MeasurementPhase>: Sendable, Hashable {
  /// The expected duration of each phase as a whole.
  private var expected: [EstimatedSeconds]
  private var began = 0.0
  private var spent = 0.0
  /// The number of the current phase, at first 0.
  private var current = 0
  /// How many times the planned work the current phase does: rounds are added when they decide nothing.
  private var scale = 1.0

  package init(at now: Double) {
    expected = Phase.allCases.map { _ in .zero }
    began = now
  }

  package mutating func expect(_ phase: Phase, _ time: EstimatedSeconds) { expected[phase.rawValue] = time }

  package func expected(_ phase: Phase) -> EstimatedSeconds { expected[phase.rawValue] }

  package mutating func begin(_ phase: Phase, at now: Double) {
    spent += max(0, now - began)
    (current, began, scale) = (phase.rawValue, now, 1)
  }

  /// Sets how many times the planned work the current phase is expected to do.
  package mutating func extend(to scale: Double) { self.scale = max(1, scale) }

  /// - Parameters:
  ///   - share: the completed share of the planned work of the current phase; more than 1 when rounds are added.
  ///   - known: seconds to the end of the phase, if the caller knows better.
  /// - Returns: seconds to the end of the run, nil when they may be wrong by more than a third, and the fraction of the
  ///   run that has passed, 0…1.
  package func outlook(
    _ share: Double, left known: EstimatedSeconds? = nil, at now: Double
  ) -> (left: Double?, fraction: Double) {
    let elapsed = max(0, now - began)
    let share = min(max(share / scale, 0), 1)
    let left = expected[(current + 1)...].reduce(known ?? rest(share, elapsed), +)
    let over = spent + elapsed
    return (left.isTold ? left.seconds : nil, over + left.seconds > 0 ? over / (over + left.seconds) : 0)
  }

  /// The remaining seconds of the current phase. The weight of the prior estimate decreases as the phase proceeds.
  private func rest(_ share: Double, _ elapsed: Double) -> EstimatedSeconds {
    let expected = expected[current] * scale
    guard share > 0 else { return EstimatedSeconds(expected.seconds - elapsed, doubt: expected.doubt) }
    let trust = min(1, 4 * share)
    return expected * ((1 - trust) * (1 - share)) + EstimatedSeconds((1 - share) * trust * elapsed / share)
  }
}
