import Glibc
import KelvinBasics

/// The decay of latency over a long run: L(t) = L∞ − (L∞ − L₀) e^(−t/τ).
///
/// The series is divided into at most 120 windows of equal time, each represented by its median. For a fixed τ the
/// model is linear in L∞ and L₀, so τ is searched on a logarithmic grid from 1/100 of the span to the whole span.
/// Intervals come from a block bootstrap of the residuals.
///
/// A decay is reported only under two conditions. The interval of S = L₀/L∞ excludes 1. And a constant series with the
/// same noise, resampled in blocks, fits as well in at most one case of twenty: a free τ fits some curve to any noise.
/// A τ shorter than three windows or frames is a slow beginning and not a decay.
package struct DecayFit: Sendable, Hashable, Codable {
  package enum Finding: String, Sendable, Hashable, Codable {
    case slowsDown = "slows down"
    case speedsUp = "speeds up"
    case noDecay = "no decay detected"
  }

  /// L₀ in seconds, at the first sample's time.
  package let initial: Double
  /// L∞ in seconds.
  package let settled: Double
  /// τ in seconds.
  package let timeConstant: Double
  /// S = L₀/L∞: below 1 the run has slowed down.
  package let stability: Double
  package let stabilityInterval: ConfidenceInterval
  package let settledInterval: ConfidenceInterval
  package let finding: Finding
  /// Whether the run lasted at least 3 τ. Otherwise `settled` is an extrapolation.
  package let hasSettled: Bool

  static let fewestWindows = 12
  /// The fewest windows within a reported τ, where no window is shorter than the time between frames.
  private static let fewestSteps = 3.0

  /// - Parameters:
  ///   - times: the start of each inference in seconds, ascending.
  ///   - latencies: seconds, one for each time.
  /// - Throws: `tooFewSamples` when fewer than 12 windows hold a sample, `seriesOfDifferentLength`, `invalidSample`.
  package init(times: [Double], latencies: [Double], seed: UInt64 = 1, resamples: Int = 400) throws(MeasurementError) {
    let windows = try Self.windows(times: times, latencies: latencies)
    guard windows.count >= Self.fewestWindows else {
      throw .tooFewSamples(needed: Self.fewestWindows, got: windows.count)
    }
    let span = windows[windows.count - 1].time
    let times = windows.map(\.time)
    let values = windows.map(\.latency)
    let solver = ExponentialSolver(times: times, tauFrom: span / 100, to: span)
    let coarse = solver.solve(values).tau
    let best = ExponentialSolver(times: times, tauFrom: coarse / 1.08, to: coarse * 1.08).solve(values)
    let constant = values.reduce(0, +) / Double(values.count)
    let constantError = values.reduce(0) { $0 + ($1 - constant) * ($1 - constant) }

    let bootstrap = BlockBootstrap(count: values.count)
    var generator = SeededGenerator(seed: seed)
    let fitted = windows.map { best.value(at: $0.time) }
    let residuals = zip(values, fitted).map { $0 - $1 }
    var stabilities: [Double] = []
    var settledValues: [Double] = []
    var asGoodByChance = 0
    let explained = constantError > 0 ? 1 - best.error / constantError : 0
    var resampled = values
    let rounds = max(100, resamples)
    for _ in 0..<rounds {
      bootstrap.resample(using: &generator) { resampled[$0] = fitted[$0] + residuals[$1] }
      let replicate = solver.solve(resampled)
      stabilities.append(replicate.stability)
      settledValues.append(replicate.settled)

      bootstrap.resample(using: &generator) { resampled[$0] = values[$1] }
      let chance = solver.solve(resampled)
      let chanceMean = resampled.reduce(0, +) / Double(resampled.count)
      let chanceError = resampled.reduce(0) { $0 + ($1 - chanceMean) * ($1 - chanceMean) }
      if chanceError > 0, 1 - chance.error / chanceError >= explained { asGoodByChance += 1 }
    }

    initial = best.initial
    settled = best.settled
    timeConstant = best.tau
    stability = best.stability
    stabilityInterval = BlockBootstrap.interval(stabilities)
    settledInterval = BlockBootstrap.interval(settledValues)
    hasSettled = span >= 3 * best.tau
    let isSeen = best.tau >= Self.fewestSteps * span / Double(windows.count - 1)
    let beyondChance = isSeen && explained > 0 && Double(asGoodByChance) <= 0.05 * Double(rounds)
    if !beyondChance || stabilityInterval.contains(1) {
      finding = .noDecay
    } else {
      finding = stability < 1 ? .slowsDown : .speedsUp
    }
  }

  /// Returns the fitted latency `seconds` after the first sample.
  package func latency(after seconds: Double) -> Double {
    settled - (settled - initial) * exp(-seconds / timeConstant)
  }

  private struct Window {
    var time: Double
    var latency: Double
  }

  private static func windows(times: [Double], latencies: [Double]) throws(MeasurementError) -> [Window] {
    guard times.count == latencies.count else {
      throw .seriesOfDifferentLength(candidate: times.count, baseline: latencies.count)
    }
    guard let first = times.first, let last = times.last else {
      throw .tooFewSamples(needed: fewestWindows, got: 0)
    }
    for index in times.indices {
      guard latencies[index].isFinite, latencies[index] >= 0 else {
        throw .invalidSample(index: index, value: latencies[index])
      }
      guard times[index].isFinite, index == 0 || times[index] >= times[index - 1] else {
        throw .invalidSample(index: index, value: times[index])
      }
    }
    let limit = min(120, times.count)
    let width = (last - first) / Double(limit)
    guard width > 0, width.isFinite else { throw .tooFewSamples(needed: fewestWindows, got: 1) }
    var samples = [[Double]](repeating: [], count: limit)
    var sums = [Double](repeating: 0, count: limit)
    for (time, latency) in zip(times, latencies) {
      let window = min(limit - 1, Int((time - first) / width))
      samples[window].append(latency)
      sums[window] += time - first
    }
    return samples.indices.compactMap { window in
      guard !samples[window].isEmpty else { return nil }
      let sorted = samples[window].sorted()
      return Window(
        time: sums[window] / Double(sorted.count),
        latency: (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2)
    }
  }
}
