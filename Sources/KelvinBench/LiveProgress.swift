import KelvinMeasurements

/// The phases of a benchmark.
package enum BenchmarkPhase: Int, MeasurementPhase {
  case preparation, coldStarts, starts, warm, sustained, agreement
}

/// Reports the state of a running benchmark to its observer.
final class LiveProgress {
  private let clock: any MeasurementClock
  private let observe: MeasurementObserver
  private(set) var phase = "preparation"
  private var estimate: RunEstimate<BenchmarkPhase>
  /// The reported fraction. It never decreases, even if the estimate of the remaining time grows.
  private var fraction = 0.0
  private var rows: [MeasurementProgress.Row] = []

  init(clock: any MeasurementClock, observe: @escaping MeasurementObserver = { _ in }) {
    self.clock = clock
    self.observe = observe
    estimate = RunEstimate(at: clock.now())
  }

  /// Sets the expected seconds of a whole phase.
  func expect(_ phase: BenchmarkPhase, _ time: EstimatedSeconds) { estimate.expect(phase, time) }

  /// Returns the seconds that a phase is currently expected to take.
  func expected(_ phase: BenchmarkPhase) -> Double { estimate.expected(phase).seconds }

  func begin(_ name: String, _ phase: BenchmarkPhase) {
    self.phase = name
    estimate.begin(phase, at: clock.now())
    for index in rows.indices { rows[index].dropped = 0 }
    advance(0)
  }

  /// Sets how many times the planned work the current phase is expected to do.
  func extend(to scale: Double) { estimate.extend(to: scale) }

  /// Reports the end.
  func finish() { observe(.init(phase: "done", fraction: 1, rows: rows)) }

  /// - Parameters:
  ///   - share: the completed share of the planned work of the phase; above 1 when rounds are added.
  ///   - left: seconds to the end of the phase, if the caller knows better than by proportion.
  ///   - isRepeating: whether the rounds exceed the planned ones.
  /// - Parameter what: the name of the activity, if it differs from the phase.
  func advance(
    _ share: Double, _ label: String = "", left: EstimatedSeconds? = nil, what: String? = nil, isRepeating: Bool = false
  ) {
    let outlook = estimate.outlook(share, left: left, at: clock.now())
    fraction = max(fraction, min(outlook.fraction, 1))
    for index in rows.indices { rows[index].isRunning = rows[index].label == label }
    observe(
      .init(
        phase: what ?? (isRepeating ? "\(phase), further rounds" : phase), fraction: fraction, detail: label,
        rows: rows, secondsLeft: outlook.left))
  }

  /// Updates the row of a configuration. Statistics are computed from the given latencies.
  func note(
    _ label: String, latencies: some Collection<Double>, rate: Double? = nil, dropped: Int = 0, state: String = ""
  ) {
    let statistics = try? LatencyStatistics(Array(latencies))
    let row = MeasurementProgress.Row(
      label: label, rate: rate ?? statistics.flatMap { $0.mean > 0 ? 1 / $0.mean : nil }, p50: statistics?.p50,
      p90: statistics?.p90, dropped: dropped, state: state, isRunning: true)
    if let index = rows.firstIndex(where: { $0.label == label }) { rows[index] = row } else { rows.append(row) }
  }
}
