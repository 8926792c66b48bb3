import KelvinBasics
import KelvinMeasurements
import Testing

@Suite("Latency statistics")
struct LatencyStatisticsTests {
  @Test("percentiles are nearest rank: of 1...100 ms the 90th is 90 ms, of 1...30 the 90th is 27")
  func nearestRank() throws {
    let hundred = try LatencyStatistics((1...100).map { Double($0) }.shuffled(seed: 3))
    #expect(hundred.count == 100)
    #expect(hundred.minimum == 1)
    #expect(hundred.p50 == 50)
    #expect(hundred.p90 == 90)
    #expect(hundred.p99 == 99)
    #expect(hundred.maximum == 100)
    #expect(abs(hundred.mean - 50.5) < 1e-12)
    #expect(try LatencyStatistics((1...30).map { Double($0) }).p90 == 27)
    #expect(try LatencyStatistics([7]).p99 == 7)
    #expect(try LatencyStatistics([4, 1, 3, 2]).p50 == 2)
  }

  @Test("the median's interval is the tabulated pair of order statistics")
  func medianInterval() throws {
    // Tables of the sign test: n = 10 → ranks 2 and 9 (97.9 %), 20 → 6 and 15 (95.9 %), 100 → 40 and 61 (96.5 %).
    for (n, lower, upper, confidence) in [(10, 2, 9, 0.978516), (20, 6, 15, 0.958611), (100, 40, 61, 0.964800)] {
      let interval = try LatencyStatistics((1...n).map { Double($0) }).medianInterval
      #expect(interval.lower == Double(lower))
      #expect(interval.upper == Double(upper))
      #expect(abs(interval.confidence - confidence) < 1e-5)
    }
  }

  @Test("five samples report that they cannot give 95 %")
  func fewSamples() throws {
    let interval = try LatencyStatistics([1, 2, 3, 4, 5]).medianInterval
    #expect(interval.lower == 1)
    #expect(interval.upper == 5)
    #expect(interval.confidence == 0.9375)
    #expect(try LatencyStatistics([3]).medianInterval.confidence == 0)
  }

  @Test("a million samples do not underflow the binomial sum")
  func manySamples() throws {
    let interval = try LatencyStatistics((1...1_000_000).map { Double($0) }).medianInterval
    // Normal approximation: 500000 ± 0.98 √n.
    #expect(abs(interval.lower - 499_020) < 3)
    #expect(abs(interval.upper - 500_981) < 3)
    #expect(abs(interval.confidence - 0.95) < 1e-3)
  }

  @Test("impossible samples are refused with their index")
  func invalid() {
    #expect(throws: MeasurementError.tooFewSamples(needed: 1, got: 0)) { try LatencyStatistics([]) }
    #expect(throws: MeasurementError.invalidSample(index: 1, value: -1)) { try LatencyStatistics([1, -1]) }
    #expect(throws: MeasurementError.invalidSample(index: 0, value: .infinity)) { try LatencyStatistics([.infinity]) }
  }

  @Test("percentiles are samples, ordered, inside the range and independent of the order given")
  func properties() throws {
    for seed in UInt64(1)...200 {
      var random = SeededGenerator(seed: seed)
      let samples = (0..<Int.random(in: 1...300, using: &random)).map { _ in random.unit() }
      let statistics = try LatencyStatistics(samples)
      let inOrder =
        statistics.minimum <= statistics.p50 && statistics.p50 <= statistics.p90 && statistics.p90 <= statistics.p99
        && statistics.p99 <= statistics.maximum
      #expect(inOrder, "seed \(seed)")
      #expect(samples.contains(statistics.p90), "seed \(seed)")
      #expect(statistics.medianInterval.contains(statistics.p50), "seed \(seed)")
      #expect(try LatencyStatistics(samples.shuffled(seed: seed)).p99 == statistics.p99, "seed \(seed)")
    }
  }

  @Test("throughput drift compares the thirds")
  func drift() {
    #expect(ThroughputDrift.backToBack(latencies: [1, 1, 1.5, 1.5, 2, 2]) == 0.5)
    #expect(ThroughputDrift.backToBack(latencies: [1, 1]) == nil)
    var completions: [Double] = (0..<30).map { Double($0) * 0.1 }
    for frame in 0..<15 { completions.append(6.1 + Double(frame) * 0.2) }
    #expect(ThroughputDrift.paced(completions: completions, start: 0, end: 9) == 0.5)
    #expect(ThroughputDrift.paced(completions: [8], start: 0, end: 9) == nil)
    #expect(ThroughputDrift.paced(completions: [1], start: 9, end: 0) == nil)
  }
}

extension Array {
  func shuffled(seed: UInt64) -> [Element] {
    var random = SeededGenerator(seed: seed)
    return shuffled(using: &random)
  }
}
