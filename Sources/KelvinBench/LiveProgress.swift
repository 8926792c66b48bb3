import KelvinMeasurements

/// Collects what a running benchmark knows, for whoever watches.
final class LiveProgress {
  private let clock: any MeasurementClock
  private let observe: MeasurementObserver
  private(set) var phase = "preparation"
  private var estimate: RunEstimate
  /// What was said to be over: it never goes back, whatever is learned of the rest.
  private var fraction = 0.0
  private var rows: [MeasurementProgress.Row] = []

  init(clock: any MeasurementClock, observe: @escaping MeasurementObserver = { _ in }) {
    self.clock = clock
    self.observe = observe
    estimate = RunEstimate(at: clock.now())
  }

  /// What a phase is expected to take as a whole.
  func expect(_ phase: RunEstimate.Phase, _ time: EstimatedSeconds) { estimate.expect(phase, time) }

  /// What a phase is expected to take by now, in seconds.
  func expected(_ phase: RunEstimate.Phase) -> Double { estimate.expected(phase).seconds }

  func begin(_ name: String, _ phase: RunEstimate.Phase) {
    self.phase = name
    estimate.begin(phase, at: clock.now())
    for index in rows.indices { rows[index].dropped = 0 }
    advance(0)
  }

  /// The phase will do this many times what was planned, as far as it can be told.
  func extend(to scale: Double) { estimate.extend(to: scale) }

  /// The last thing that is said.
  func finish() { observe(.init(phase: "done", fraction: 1, rows: rows)) }

  /// - Parameters:
  ///   - share: of what was planned of the phase; above 1 where it goes on.
  ///   - left: to the end of the phase, where the caller knows better than by proportion.
  ///   - what: is going on, where it is not the phase itself.
  ///   - isRepeating: whether rounds beyond the planned ones are made.
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

  /// What is known of a configuration now. Statistics are of the latencies given.
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
