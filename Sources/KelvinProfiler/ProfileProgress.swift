import KelvinMeasurements

/// Reports the progress of a profile, and the time that is left, to its observer.
final class ProfileProgress {
  enum Phase: Int, MeasurementPhase {
    case preparation, nodes, transfers, mixes, plans, corun, busyStarts
  }

  private let clock: any MeasurementClock
  private let observe: MeasurementObserver
  private var estimate: RunEstimate<Phase>
  /// The reported fraction. It never decreases.
  private var fraction = 0.0

  init(clock: any MeasurementClock, observe: @escaping MeasurementObserver) {
    self.clock = clock
    self.observe = observe
    estimate = RunEstimate(at: clock.now())
    // The time that drivers take to compile is unknown before the first compilation.
    estimate.expect(.preparation, EstimatedSeconds(0, doubt: .infinity))
  }

  func expect(_ phase: Phase, _ seconds: Double) { estimate.expect(phase, EstimatedSeconds(seconds)) }

  func begin(_ phase: Phase) { estimate.begin(phase, at: clock.now()) }

  /// - Parameters:
  ///   - share: the completed share of the current phase, 0…1.
  ///   - left: seconds to the end of the phase, if the caller knows better than by proportion.
  func report(_ text: String, _ share: Double, left: Double? = nil) {
    let outlook = estimate.outlook(share, left: left.map { EstimatedSeconds($0) }, at: clock.now())
    fraction = max(fraction, min(outlook.fraction, 1))
    observe(.init(phase: text, fraction: fraction, secondsLeft: outlook.left))
  }

  func finish() { observe(.init(phase: "done", fraction: 1)) }
}
