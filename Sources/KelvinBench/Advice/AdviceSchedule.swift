import KelvinBasics
import KelvinMeasurements

/// The configurations that one part measures within its time, and their common workload. The quickest come first; among
/// similar ones, the most exact. A comparison needs a minimum number of rounds, so a configuration that does not fit is
/// left out.
package struct AdviceSchedule: Sendable, Hashable {
  /// Approximate times of a configuration, in seconds.
  package struct Estimate: Sendable, Hashable {
    /// Compilation and the first inference with empty caches.
    package var coldStart: Double
    /// Compilation and the first inference with filled caches.
    package var start: Double
    /// One further inference.
    package var inference: Double
    /// The largest relative error of rounding a number once.
    package var roundoff: Double

    package init(coldStart: Double, start: Double, inference: Double, roundoff: Double = 0) {
      self.coldStart = coldStart
      self.start = start
      self.inference = inference
      self.roundoff = roundoff
    }

    /// Whether a preliminary measurement of a few inferences cannot distinguish the two.
    func isAlike(_ other: Estimate) -> Bool {
      func isClose(_ one: Double, _ other: Double) -> Bool { max(one, other) <= 1.25 * min(one, other) }
      return isClose(start, other.start) && isClose(inference, other.inference)
    }
  }

  package var workload: Workload
  /// Indices of the measured configurations in the estimates, ascending.
  package var rows: [Int]
  /// Indices of the other configurations.
  package var leftOut: [Int]
  /// Approximate seconds of all measurements.
  package var expectedSeconds: Double

  /// - Parameters:
  ///   - estimates: one for each configuration that can be measured, at least one.
  ///   - seconds: the time of the whole part; the quickest configuration is measured even if it takes longer.
  ///   - isFirst: whether this part also has to measure the memory of a process.
  package init(
    _ part: AdvicePart, _ estimates: [Estimate], framesPerSecond: Double, seconds: Double, isFirst: Bool = false
  ) {
    let alone = estimates.map { Self.leastSeconds(part, [$0]) }
    var taken: [Int] = []
    for index in Self.order(estimates, alone) {
      let wider = taken + [index]
      guard taken.isEmpty || Self.leastSeconds(part, wider.map { estimates[$0] }) <= seconds else { continue }
      taken = wider
    }
    rows = taken.sorted()
    leftOut = estimates.indices.filter { !taken.contains($0) }
    let measured = rows.map { estimates[$0] }
    let spare = max(0, seconds - Self.leastSeconds(part, measured)) / Double(max(taken.count, 1))
    workload = Self.workload(part, measured, framesPerSecond: framesPerSecond, spare: spare)
    if isFirst { workload.starts = max(workload.starts, 1) }
    expectedSeconds = Self.expectedSeconds(part, measured, workload)
  }

  /// The order of selection: the configuration that is quickest to measure, preceded by similar ones with smaller
  /// rounding errors; then the rest in the same manner.
  private static func order(_ estimates: [Estimate], _ alone: [Double]) -> [Int] {
    var rest = estimates.indices.sorted {
      (alone[$0], estimates[$0].inference, $0) < (alone[$1], estimates[$1].inference, $1)
    }
    var order: [Int] = []
    while let quickest = rest.first {
      let next =
        rest.filter { estimates[$0].isAlike(estimates[quickest]) }.min {
          estimates[$0].roundoff < estimates[$1].roundoff
        }
        ?? quickest
      order.append(next)
      rest.removeAll { $0 == next }
    }
    return order
  }

  /// Rounds of everything that is compared. Fewer rounds distinguish only very large differences from noise
  /// (`bench/results/verdicts.md`).
  static let rounds = 2 * PairedComparison.fewestPairs
  /// Default seconds until a new process has opened its devices.
  private static let launch = 0.3
  /// Warm inferences per round.
  private static let queries = 2.0

  /// Returns the seconds of a sustained load: slices of a few frames each.
  private static func load(_ inference: Double) -> Double { Double(rounds) * max(0.3, 4 * inference) }

  /// Returns the least seconds that these configurations take together; a sustained load is equally long for all of
  /// them.
  private static func leastSeconds(_ part: AdvicePart, _ estimates: [Estimate]) -> Double {
    expectedSeconds(part, estimates, workload(part, estimates, framesPerSecond: 1, spare: 0))
  }

  private static func expectedSeconds(_ part: AdvicePart, _ estimates: [Estimate], _ workload: Workload) -> Double {
    estimates.reduce(0) { sum, estimate in
      let (start, inference) = (launch + estimate.start, estimate.inference)
      switch part {
      // Every round begins with an inference that is not counted.
      case .photo:
        return sum + launch + estimate.coldStart + Double(workload.starts) * start + estimate.start
          + Double(workload.rounds) * inference + max(workload.warmSeconds, Double(workload.iterations) * inference)
      case .stream: return sum + start + workload.duration + 3 * Double(rounds) * inference
      // Up to four numbers of inferences in flight are tried three times, each for an eighth of the load that follows.
      case .throughput: return sum + start + workload.duration + 12 * max(0.25, workload.duration / 8, inference)
      }
    }
  }

  /// - Parameter spare: seconds for each configuration beyond the minimum.
  private static func workload(
    _ part: AdvicePart, _ estimates: [Estimate], framesPerSecond: Double, spare: Double
  ) -> Workload {
    let starts = estimates.map { launch + $0.start }
    let slowest = estimates.map(\.inference).max() ?? 0
    let load = load(slowest)
    switch part {
    case .photo:
      let further = Int(min(1e3, 0.6 * spare / max(starts.max() ?? launch, launch)))
      return Workload(
        name: "advise-photo", kind: .oneShot, coldStarts: 1, starts: min(20, rounds + further),
        iterations: rounds * Int(queries), rounds: rounds, warmSeconds: min(3, 0.3 * spare), warmUps: 2)
    case .stream:
      return Workload(
        name: "advise-stream", kind: .stream, coldStarts: 0, starts: 0, iterations: PairedComparison.fewestPairs,
        rounds: PairedComparison.fewestPairs,
        warmSeconds: 0, warmUps: 1, framesPerSecond: framesPerSecond, duration: min(20, load + 0.8 * spare))
    case .throughput:
      return Workload(
        name: "advise-throughput", kind: .throughput, coldStarts: 0, starts: 0,
        iterations: PairedComparison.fewestPairs, rounds: PairedComparison.fewestPairs,
        warmSeconds: 0, warmUps: 1, duration: min(10, load + 0.3 * spare))
    }
  }
}
