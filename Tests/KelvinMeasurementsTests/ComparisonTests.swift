import Glibc
import KelvinBasics
import KelvinMeasurements
import Testing

@Suite("Comparison and decay")
struct ComparisonTests {
  /// A busy machine: both sides of a round share its disturbance, and each has its own noise.
  private func rounds(_ count: Int, ratio: Double, noise: Double, seed: UInt64) -> ([Double], [Double]) {
    var random = SeededGenerator(seed: seed)
    var candidate: [Double] = []
    var baseline: [Double] = []
    for _ in 0..<count {
      let neighbour = random.unit() < 0.3 ? 1 + 2 * random.unit() : 1
      baseline.append(0.010 * neighbour * (1 + noise * random.unit()))
      candidate.append(0.010 * ratio * neighbour * (1 + noise * random.unit()))
    }
    return (candidate, baseline)
  }

  @Test("a difference of 5 % is found despite disturbed rounds")
  func findsDifference() throws {
    let (candidate, baseline) = rounds(60, ratio: 0.95, noise: 0.05, seed: 11)
    let faster = try PairedComparison(candidate: candidate, baseline: baseline)
    #expect(faster.verdict == .faster)
    #expect(faster.pairs == 60)
    #expect(abs(faster.ratio - 0.95) < 0.015)
    #expect(faster.interval.contains(faster.ratio))
    #expect(try PairedComparison(candidate: baseline, baseline: candidate).verdict == .slower)
  }

  @Test("equal configurations have a winner in at most 12 of 200 runs")
  func noFalseWinner() throws {
    var winners = 0
    for seed in UInt64(1)...200 {
      let (candidate, baseline) = rounds(40, ratio: 1, noise: 0.2, seed: seed)
      let comparison = try PairedComparison(candidate: candidate, baseline: baseline)
      if comparison.verdict != .noDifferenceMeasured { winners += 1 }
    }
    #expect(winners <= 12, "seeds 1...200, winners \(winners)")
  }

  @Test("fewer than six pairs are reported as not compared")
  func tooFew() throws {
    let five = try PairedComparison(candidate: [1, 1, 1, 1, 1], baseline: [2, 2, 2, 2, 2])
    #expect(five.ratio == 0.5)
    #expect(five.verdict == .notCompared)
    #expect(five.detectable() == .infinity)
    #expect(try PairedComparison(candidate: [1, 1, 1, 1, 1, 1], baseline: [2, 2, 2, 2, 2, 2]).verdict == .faster)
  }

  @Test("scattered pairs are not reported as equal")
  func scattered() throws {
    // Starts of a driver beside those of the processor, in seconds.
    let driver = [1.895, 0.598, 1.057, 0.586, 0.702, 0.879]
    let processor = [0.0393, 0.0377, 0.0386, 0.0412, 0.0422, 0.0431]
    let blind = try PairedComparison(candidate: driver, baseline: processor, level: 0.0125)
    #expect(blind.interval.contains(1) && blind.detectable() > 1, "\(blind)")
    #expect(blind.verdict == .notCompared)
    let again = [0.0391, 0.0379, 0.0384, 0.0414, 0.0420, 0.0433]
    let seeing = try PairedComparison(candidate: again, baseline: processor, level: 0.0125)
    #expect(seeing.detectable() < 1 && seeing.verdict == .noDifferenceMeasured, "\(seeing)")
  }

  @Test("correlated samples and a stricter level widen the interval")
  func correlationWidens() throws {
    var random = SeededGenerator(seed: 3)
    var state = 0.0
    let wandering = (0..<60).map { _ in
      state = 0.8 * state + random.unit() - 0.5
      return state
    }
    let mixed = wandering.shuffled(using: &random)
    func comparison(_ noise: [Double], level: Double = 0.05) throws -> PairedComparison {
      try PairedComparison(candidate: noise.map { exp(0.1 * $0) }, baseline: noise.map { _ in 1 }, level: level)
    }
    func width(_ comparison: PairedComparison) -> Double { comparison.interval.upper - comparison.interval.lower }
    // The same numbers; only their order differs.
    #expect(width(try comparison(wandering)) > 1.5 * width(try comparison(mixed)), "seed 3")
    #expect(try comparison(wandering).detectable() > 1.5 * comparison(mixed).detectable(), "seed 3")
    #expect(width(try comparison(mixed, level: 0.01)) > 1.2 * width(try comparison(mixed)))
    #expect(try comparison(mixed, level: 0.01).interval.confidence == 0.99)
  }

  @Test("Student's t is that of the tables")
  func studentT() {
    // Forty samples whose neighbours are opposite refute every correlation above 0; t(0.975; 39) = 2.0227.
    let noise = (0..<40).map { $0.isMultiple(of: 2) ? 0.01 : -0.01 }
    #expect(abs(CorrelatedMean(noise, level: 0.05).upper / 0.01 * 39.0.squareRoot() - 2.0227) < 1e-3)
  }

  /// Of all signs of the differences from a shift, the share whose positive ranks sum to at most, and to at least, as
  /// much as those of the differences.
  private func signFlips(_ differences: [Double], shift: Double) -> (atMost: Double, atLeast: Double) {
    let shifted = differences.map { $0 - shift }
    let order = shifted.indices.sorted { abs(shifted[$0]) < abs(shifted[$1]) }
    let own = order.enumerated().reduce(0) { $0 + (shifted[$1.element] > 0 ? $1.offset + 1 : 0) }
    let sums = (0..<1 << order.count).map { signs in
      order.indices.reduce(0) { $0 + (signs >> $1 & 1 == 1 ? $1 + 1 : 0) }
    }
    let all = Double(sums.count)
    return (Double(sums.count { $0 <= own }) / all, Double(sums.count { $0 >= own }) / all)
  }

  @Test("the interval of signed ranks holds the shifts that no enumeration of all signs rejects")
  func signedRanks() throws {
    for seed in UInt64(1)...10 {
      var random = SeededGenerator(seed: seed)
      let differences = (0..<10).map { ($0.isMultiple(of: 2) ? 1.0 : -1.0) * random.unit() + 0.2 }
      let ranks = try #require(SignedRanks(differences, level: 0.05), "seed \(seed)")
      for (edge, inside) in [(ranks.lower, 1e-9), (ranks.upper, -1e-9)] {
        let (kept, rejected) = (
          signFlips(differences, shift: edge + inside), signFlips(differences, shift: edge - inside)
        )
        #expect(min(kept.atMost, kept.atLeast) > 0.025, "seed \(seed)")
        #expect(min(rejected.atMost, rejected.atLeast) <= 0.025, "seed \(seed)")
      }
    }
  }

  @Test("ranks are not used for too few pairs, nor where neighbours correlate")
  func ranksAbstain() {
    let alternating = (0..<12).map { $0.isMultiple(of: 2) ? 0.01 : -0.01 }
    #expect(SignedRanks(Array(alternating.prefix(7)), level: 0.0125) == nil)
    #expect(SignedRanks(Array(alternating.prefix(8)), level: 0.0125) != nil)
    #expect(SignedRanks(alternating.sorted(), level: 0.0125) == nil)
  }

  @Test("pairs that correlate are still compared where their range is small beside the difference")
  func shiftIsNoDoubt() throws {
    // A driver takes 7 times as long as the processor, and 13 times once a neighbour is gone.
    let baseline = (0..<20).map { ($0 < 10 ? 320e-6 : 190e-6) * ($0.isMultiple(of: 2) ? 1.02 : 0.98) }
    let candidate = baseline.map { _ in 2.45e-3 }
    let comparison = try PairedComparison(candidate: candidate, baseline: baseline, level: 0.00625)
    #expect(SignedRanks(zip(candidate, baseline).map { log($0 / $1) }, level: 0.00625) == nil)
    #expect(comparison.verdict == .slower, "\(comparison)")
    // The same shift about a ratio of 1 is no difference.
    let equal = try PairedComparison(candidate: baseline.map { _ in 245e-6 }, baseline: baseline, level: 0.00625)
    #expect(equal.interval.contains(1), "\(equal)")
  }

  @Test("an outlier hardly moves the interval of signed ranks")
  func ranksResistOutliers() throws {
    var differences = (0..<12).map { 0.1 + ($0.isMultiple(of: 2) ? 0.01 : -0.01) }
    differences[3] = 5
    let ranks = try #require(SignedRanks(differences, level: 0.05))
    #expect(ranks.lower > 0.08 && ranks.upper < 0.2, "\(ranks)")
  }

  @Test("series that cannot be paired are refused")
  func invalid() {
    #expect(throws: MeasurementError.seriesOfDifferentLength(candidate: 1, baseline: 2)) {
      try PairedComparison(candidate: [1], baseline: [1, 2])
    }
    #expect(throws: MeasurementError.invalidSample(index: 0, value: 0)) {
      try PairedComparison(candidate: [1], baseline: [0])
    }
  }

  private func run(
    seconds: Double, initial: Double, settled: Double, tau: Double, noise: Double, seed: UInt64
  ) -> (times: [Double], latencies: [Double]) {
    var random = SeededGenerator(seed: seed)
    var times: [Double] = []
    var latencies: [Double] = []
    var now = 0.0
    while now < seconds {
      let spike = random.unit() < 0.02 ? 3.0 : 1.0
      times.append(now)
      latencies.append((settled - (settled - initial) * exp(-now / tau)) * (1 + noise * (random.unit() - 0.5)) * spike)
      now += 0.25
    }
    return (times, latencies)
  }

  @Test("a throttling run gives L₀, L∞ and τ")
  func decay() throws {
    let (times, latencies) = run(seconds: 600, initial: 0.2, settled: 0.4, tau: 90, noise: 0.1, seed: 2)
    let fit = try DecayFit(times: times, latencies: latencies)
    #expect(fit.finding == .slowsDown)
    #expect(fit.hasSettled)
    #expect(abs(fit.initial / 0.2 - 1) < 0.03)
    #expect(abs(fit.settled / 0.4 - 1) < 0.02)
    #expect(abs(fit.timeConstant / 90 - 1) < 0.1)
    #expect(abs(fit.stability - 0.5) < 0.02)
    #expect(fit.stabilityInterval.contains(0.5))
    #expect(abs(fit.latency(after: 0) - fit.initial) < 1e-12)
  }

  @Test("a warm-up is distinguished from throttling")
  func warmUp() throws {
    let (times, latencies) = run(seconds: 120, initial: 0.3, settled: 0.2, tau: 10, noise: 0.1, seed: 3)
    let fit = try DecayFit(times: times, latencies: latencies)
    #expect(fit.finding == .speedsUp)
  }

  @Test("steady runs are reported as decaying in at most a tenth of 40 runs")
  func noFalseDecay() throws {
    var found = 0
    for seed in UInt64(1)...40 {
      let (times, latencies) = run(seconds: 60, initial: 0.2, settled: 0.2, tau: 20, noise: 0.3, seed: seed)
      if try DecayFit(times: times, latencies: latencies, resamples: 100).finding != .noDecay { found += 1 }
    }
    #expect(found <= 4, "seeds 1...40, found \(found)")
  }

  @Test("fits stay above zero, and a slow start of a few frames is not a decay")
  func boundedDecay() throws {
    // A straight line down: without bounds the best curve ends far below zero.
    let times = (0..<60).map { Double($0) }
    let falling = try DecayFit(times: times, latencies: times.map { 0.00343 - 0.00005 * $0 })
    #expect(falling.settled > 0 && falling.initial > 0)
    #expect(falling.stability.isFinite && falling.stabilityInterval.upper.isFinite)
    #expect(falling.settledInterval.lower > 0)
    for (seed, slow) in [(UInt64(1), 1), (2, 2), (3, 1)] {
      var random = SeededGenerator(seed: seed)
      let latencies = times.map { $0 < Double(slow) ? 0.02 : 0.003 * (1 + 0.01 * random.unit()) }
      #expect(try DecayFit(times: times, latencies: latencies).finding == .noDecay, "seed \(seed)")
    }
  }

  @Test("a constant run has no decay; a short one is refused")
  func degenerate() throws {
    let times = (0..<100).map { Double($0) }
    let constant = try DecayFit(times: times, latencies: times.map { _ in 0.5 })
    #expect(constant.finding == .noDecay)
    #expect(abs(constant.stability - 1) < 1e-9)
    #expect(throws: MeasurementError.tooFewSamples(needed: 12, got: 3)) {
      try DecayFit(times: [0, 1, 2], latencies: [1, 1, 1])
    }
    #expect(throws: MeasurementError.tooFewSamples(needed: 12, got: 1)) {
      try DecayFit(times: [Double](repeating: 4, count: 50), latencies: [Double](repeating: 1, count: 50))
    }
    #expect(throws: MeasurementError.invalidSample(index: 2, value: 0)) {
      try DecayFit(times: [0, 1, 0], latencies: [1, 1, 1])
    }
  }
}
