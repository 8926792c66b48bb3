import Glibc
package import KelvinMeasurements
package import KelvinReport

/// The comparison of several plans on the same simulated stream: each alone on a rested machine, and all of them under
/// a governor.
package struct StreamComparison: Sendable {
  /// The moment from which one plan is better than another that was better before.
  package struct Crossover: Sendable, Hashable, Codable {
    package enum Measure: String, Sendable, Hashable, Codable {
      /// Answers per second, if they differ by more than a hundredth.
      case rate
      /// Median seconds from arrival to answer, if both have the same rate.
      case latency
    }

    package var overtaken: Int
    package var overtaking: Int
    /// Seconds from the beginning.
    package var at: Double
    package var measure: Measure
    /// The time at which the overtaking plan has also answered as many frames in total. Nil if that does not happen
    /// within the run, or it was never behind.
    package var evenAt: Double?

    package var minutes: Double { at / 60 }
  }

  /// The relative difference below which rates count as equal.
  package static let sameRate = 0.01

  package var simulation: StreamSimulation
  /// The runs, one for each plan, in the order given.
  package var runs: [StreamRun]
  package var governed: StreamRun?
  package var crossovers: [Crossover]

  /// - Parameter governor: nil for no governed run.
  /// - Throws: `StreamError` for options that are out of range.
  package init(_ simulation: StreamSimulation, governor: Governor.Options? = .init()) throws(StreamError) {
    self.simulation = simulation
    runs = simulation.plans.indices.map { simulation.run(plan: $0) }
    governed = nil
    if let governor { governed = try simulation.run(governed: governor) }
    crossovers = []
    for hot in runs.indices {
      for lean in runs.indices where lean != hot {
        if let found = crossover(overtaken: hot, overtaking: lean) { crossovers.append(found) }
      }
    }
    crossovers.sort { ($0.at, $0.overtaken, $0.overtaking) < ($1.at, $1.overtaken, $1.overtaking) }
  }

  /// The runs as reports show them.
  package var series: [ReportSeries] { (runs + [governed].compactMap { $0 }).map(\.series) }

  /// The trace of the governed run for Perfetto, or without one of the first run.
  package var trace: Trace { (governed ?? runs[0]).trace }

  /// The plan with the best last tenth: by rate, or by latency if rates differ by at most a hundredth.
  package var bestSettled: Int { best { Self.lastTenth($0.windows) } }

  /// The plan with the best first window, before heat has an effect.
  package var bestCool: Int { best { Array($0.windows.prefix(1)) } }

  /// Returns the best plan over some windows; among equal plans, the one with the least energy per frame.
  private func best(_ stretch: (StreamRun) -> [StreamRun.Window]) -> Int {
    let scores = runs.map { Score(stretch($0), isPaced: isPaced) }
    let joules = simulation.plans.map(\.joulesPerFrame)
    return scores.indices.reduce(0) { best, other in
      if scores[other].isClearlyBetter(than: scores[best]) { return other }
      return !scores[best].isClearlyBetter(than: scores[other]) && joules[other] < joules[best] ? other : best
    }
  }

  /// Whether no plan is clearly better than another at the end.
  var isEven: Bool {
    let scores = runs.map { Score(Self.lastTenth($0.windows), isPaced: isPaced) }
    return !scores.contains { one in scores.contains { one.isClearlyBetter(than: $0) } }
  }

  private static func lastTenth(_ windows: [StreamRun.Window]) -> [StreamRun.Window] {
    windows.suffix(max(1, windows.count / 10))
  }

  private var isPaced: Bool { simulation.stream.framesPerSecond != nil }

  /// The rate and latency over some windows. Paced streams with equal rates are compared by latency.
  private struct Score {
    /// The relative differences that are within the noise of a window.
    static let sameRate = StreamComparison.sameRate
    static let sameLatency = 0.01
    let isPaced: Bool
    let rate: Double
    let latency: Double

    init(_ windows: [StreamRun.Window], isPaced: Bool) {
      self.isPaced = isPaced
      let seconds = windows.reduce(0) { $0 + $1.end - $1.start }
      rate = Double(windows.reduce(0) { $0 + $1.served }) / max(seconds, 1e-9)
      let known = windows.compactMap(\.p50)
      latency = known.isEmpty ? .infinity : known.reduce(0, +) / Double(known.count)
    }

    func hasSameRate(as other: Score) -> Bool {
      isPaced && abs(rate - other.rate) <= Self.sameRate * max(rate, other.rate)
    }

    func isBetter(than other: Score) -> Bool {
      hasSameRate(as: other) ? latency < other.latency : rate > other.rate
    }

    func isClearlyBetter(than other: Score) -> Bool {
      if hasSameRate(as: other) { return latency < (1 - Self.sameLatency) * other.latency }
      return rate > (1 + Self.sameRate) * other.rate
    }
  }

  /// Returns the moment from which `overtaking` remains better, if `overtaken` was clearly better at first and is
  /// clearly worse over the last tenth. The moment is interpolated between the middles of the adjacent windows.
  private func crossover(overtaken: Int, overtaking: Int) -> Crossover? {
    let (hot, lean) = (runs[overtaken].windows, runs[overtaking].windows)
    let scores = zip(hot, lean).map {
      (hot: Score([$0], isPaced: isPaced), lean: Score([$1], isPaced: isPaced))
    }
    let settled = (
      hot: Score(Self.lastTenth(hot), isPaced: isPaced), lean: Score(Self.lastTenth(lean), isPaced: isPaced)
    )
    guard let first = scores.first, first.hot.isClearlyBetter(than: first.lean),
      settled.lean.isClearlyBetter(than: settled.hot),
      let behind = scores.dropLast().lastIndex(where: { !$0.lean.isBetter(than: $0.hot) })
    else { return nil }
    let (before, after) = (scores[behind], scores[behind + 1])
    let byLatency = before.hot.hasSameRate(as: before.lean)
    func lead(_ pair: (hot: Score, lean: Score)) -> Double {
      byLatency ? log(pair.hot.latency / pair.lean.latency) : log(pair.lean.rate / pair.hot.rate)
    }
    let (from, to) = (lead(before), lead(after))
    let share = from.isFinite && to.isFinite && to > from ? min(max(-from / (to - from), 0), 1) : 1
    let middles = [behind, behind + 1].map { (hot[$0].start + hot[$0].end) / 2 }
    return Crossover(
      overtaken: overtaken, overtaking: overtaking, at: middles[0] + share * (middles[1] - middles[0]),
      measure: byLatency ? .latency : .rate, evenAt: Self.even(hot, lean))
  }

  private static func even(_ hot: [StreamRun.Window], _ lean: [StreamRun.Window]) -> Double? {
    var lead = 0
    var wasAhead = false
    var moment: Double?
    for (ahead, behind) in zip(hot, lean) {
      let before = lead
      lead += ahead.served - behind.served
      if Double(lead) > 0.01 * Double(ahead.served) { wasAhead = true }
      if wasAhead, before > 0, lead <= 0 {
        moment = ahead.start + (ahead.end - ahead.start) * Double(before) / Double(before - lead)
      }
    }
    return lead <= 0 ? moment : nil
  }
}
