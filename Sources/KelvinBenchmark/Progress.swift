import KelvinProfiling

/// How far a measurement has come.
package struct BenchmarkProgress: Sendable, Hashable {
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

package typealias BenchmarkObserver = (BenchmarkProgress) -> Void

/// Collects what a running benchmark knows, for whoever watches.
final class LiveProgress {
  private let clock: any BenchmarkClock
  private let observe: BenchmarkObserver
  private(set) var phase = "preparation"
  private var from = 0.0
  private var to = 0.0
  private var began: Double
  private var rows: [BenchmarkProgress.Row] = []

  init(clock: any BenchmarkClock, observe: @escaping BenchmarkObserver = { _ in }) {
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
    let row = BenchmarkProgress.Row(
      label: label, rate: rate ?? statistics.flatMap { $0.mean > 0 ? 1 / $0.mean : nil }, p50: statistics?.p50,
      p90: statistics?.p90, dropped: dropped, state: state, isRunning: true)
    if let index = rows.firstIndex(where: { $0.label == label }) { rows[index] = row } else { rows.append(row) }
  }
}
