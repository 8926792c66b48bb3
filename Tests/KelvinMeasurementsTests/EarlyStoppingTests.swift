import KelvinBasics
import KelvinMeasurements
import Testing

@Suite("Early stopping")
struct EarlyStoppingTests {
  /// Queries and discarded queries as published summaries of LoadGen runs report them for the 90th percentile.
  @Test(
    "as many queries are discarded as LoadGen discards",
    arguments: [(2048, 172), (2116, 178), (2145, 181), (7469, 685)])
  func discarded(queries: Int, discarded: Int) {
    let result = EarlyStopping((0..<queries).map { Double($0) })
    #expect(result.discarded == discarded)
    #expect(result.estimate == Double(queries - 1 - discarded))
    #expect(result.fewestQueries == 64)
  }

  @Test("64 queries are the fewest for the 90th percentile")
  func fewest() {
    #expect(EarlyStopping((0..<63).map { Double($0) }).estimate == nil)
    let shortest = EarlyStopping((0..<64).map { Double($0) })
    #expect(shortest.estimate == 63)
    #expect(shortest.discarded == 0)
    #expect(EarlyStopping([]).estimate == nil)
  }

  @Test("the estimate is below the true percentile in at most one run of a hundred")
  func coverage() {
    var random = SeededGenerator(seed: 11)
    var below = 0
    for _ in 0..<4000 {
      // Uniform latencies: the true 90th percentile is 0.9.
      let run = EarlyStopping((0..<200).map { _ in random.unit() })
      if (run.estimate ?? 1) < 0.9 { below += 1 }
    }
    #expect(below <= 60, "\(below) of 4000")
  }
}
