import KelvinMeasurements

/// Collects what a running benchmark knows, for whoever watches.
final class LiveProgress {
  private let clock: any MeasurementClock
  private let observe: MeasurementObserver
  private(set) var phase = "preparation"
  private var from = 0.0
  private var to = 0.0
  private var began: Double
  private var rows: [MeasurementProgress.Row] = []

  init(clock: any MeasurementClock, observe: @escaping MeasurementObserver = { _ in }) {
    self.clock = clock
    self.observe = observe
    began = clock.now()
  }

  /// A phase that takes up a part of the whole.
  func begin(_ phase: String, from: Double, to: Double) {
    self.phase = phase
    self.from = from
    self.to = to
    began = clock.now()
    for index in rows.indices { rows[index].dropped = 0 }
    advance(0)
  }

  /// Something outside of the phases.
  func report(_ what: String, _ fraction: Double, _ label: String = "") {
    observe(.init(phase: what, fraction: fraction, detail: label, rows: rows))
  }

  /// - Parameters:
  ///   - share: of the phase, 0…1.
  ///   - left: seconds to the end of the phase, where the caller knows better than by proportion.
  ///   - isRepeating: whether disturbed rounds are being repeated, for which no end is known.
  func advance(_ share: Double, _ label: String = "", left: Double? = nil, isRepeating: Bool = false) {
    let share = min(max(share, 0), 1)
    let elapsed = clock.now() - began
    let remaining = left ?? (share > 0.05 ? elapsed * (1 - share) / share : nil)
    for index in rows.indices { rows[index].isRunning = rows[index].label == label }
    // The phases behind this one are taken to last in proportion to their part of the whole.
    let scale = to > from ? (1 - from - (to - from) * share) / max((to - from) * (1 - share), 1e-9) : 1
    let whole = remaining.map { left != nil || share >= 1 ? $0 : $0 * min(max(scale, 1), 100) }
    observe(
      .init(
        phase: isRepeating ? "\(phase), disturbed rounds again" : phase, fraction: from + (to - from) * share,
        detail: label, rows: rows, secondsLeft: share < 1 && !isRepeating ? whole : nil))
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
