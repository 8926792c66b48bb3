import FoundationEssentials
import KelvinBasics
import KelvinBench
import Testing

struct RunComparisonTests {
  /// Returns the output of a run of one configuration with given warm times and constant start times.
  private func document(warm: Double, spread: Double = 0.02, rounds: Int = 20) throws -> EarlierRun {
    let text = """
      {"configurations": [{"units": "cpu", "figures": [
        {"name": "warm", "seconds": \(warm), "rounds": \(rounds),
         "interval": {"lower": \(warm * (1 - spread)), "upper": \(warm * (1 + spread)), "confidence": 0.95}},
        {"name": "start", "seconds": 0.1, "rounds": 4}]}]}
      """
    return try JSONDecoder().decode(EarlierRun.self, from: Data(text.utf8))
  }

  private func compare(_ now: Double, with earlier: Double, threshold: Double = 0.05) throws -> RunComparison {
    let figures = try document(warm: now).configurations[0].figures
    return try RunComparison(
      [("cpu", figures)], against: try document(warm: earlier), named: "old.json", threshold: threshold)
  }

  @Test func valueIsBetterWorseOrNeither() throws {
    #expect(try compare(1.2, with: 1).entries.first?.verdict == .worse)
    #expect(try compare(0.8, with: 1).entries.first?.verdict == .better)
    #expect(try compare(1.03, with: 1).entries.first?.verdict == .noDifference)
    #expect(try compare(1.2, with: 1).entries.last?.verdict == .notCompared)
    #expect(abs(try #require(try compare(1.2, with: 1).entries.first?.ratio) - 1.2) < 1e-12)
  }

  @Test func regressionExceedsTheThreshold() throws {
    #expect(try compare(1.2, with: 1).hasRegressed)
    #expect(try !compare(1.2, with: 1, threshold: 0.3).hasRegressed)
    #expect(try !compare(0.5, with: 1).hasRegressed)
    #expect(try !compare(1.03, with: 1, threshold: 0).hasRegressed)
  }

  @Test func runsWithoutCommonValuesAreRefused() throws {
    let figures = try document(warm: 1).configurations[0].figures
    #expect(throws: BenchmarkError.self) {
      try RunComparison([("vulkan:0", figures)], against: try document(warm: 1), named: "old.json", threshold: 0)
    }
  }
}
