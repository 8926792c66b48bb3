import KelvinBasics
import KelvinBench
import Testing

struct VerdictTests {
  private let labels = ["cpu-only", "vulkan:0", "all"]

  private func series(_ median: Double, noise: Double = 0.01, seed: UInt64, count: Int = 12) -> [Double] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { _ in median * (1 + noise * (random.unit() - 0.5)) }
  }

  @Test func aClearDifferenceHasAWinner() throws {
    let finding = try #require(Finding([series(0.010, seed: 1), series(0.030, seed: 2), series(0.015, seed: 3)]))
    #expect(finding.winner == 0)
    #expect(finding.runnerUp?.index == 2)
    #expect(abs((finding.runnerUp?.ratio ?? 0) - 1.5) < 0.05)
  }

  @Test func noiseHasNoWinner() throws {
    let finding = try #require(Finding([series(0.010, noise: 0.5, seed: 1), series(0.010, noise: 0.5, seed: 2)]))
    #expect(finding.winner == nil)
    #expect(finding.tied.count == 2)
  }

  @Test func fewerThanSixRoundsDecideNothing() throws {
    let finding = try #require(Finding([series(0.010, seed: 1, count: 5), series(0.030, seed: 2, count: 5)]))
    #expect(finding.winner == nil)
  }

  @Test func disturbedRoundsAreLeftOutWhileEnoughRemain() throws {
    var slow = series(0.010, seed: 1)
    for index in 0..<4 { slow[index] = 1 }
    let disturbed = (0..<12).map { $0 < 4 }
    let finding = try #require(Finding([slow, series(0.020, seed: 2)], isDisturbed: disturbed))
    #expect(finding.disturbed == 4)
    #expect(finding.winner == 0)
    let hopeless = try #require(
      Finding([slow, series(0.020, seed: 2)], isDisturbed: Array(repeating: true, count: 12)))
    #expect(hopeless.disturbed == 0)
  }

  @Test func theSamePlanUnderTwoNamesIsOnePlan() throws {
    let rounds = [series(0.011, seed: 1), series(0.030, seed: 2), series(0.010, seed: 3)]
    let finding = try #require(Finding(rounds, plans: [0, 1, 0]))
    #expect(finding.winner == 0)
    #expect(finding.runnerUp?.index == 1)
    let alone = try #require(Finding([rounds[0], rounds[2]], plans: [0, 0]))
    #expect(alone.winner == nil)
  }

  @Test func theSamePlanIsNotBehindItself() throws {
    let level = series(0.0102, noise: 0.06, seed: 4)
    let rounds = [level, series(0.010, noise: 0.06, seed: 23), level.map { $0 * 1.05 }]
    let finding = try #require(Finding(rounds, plans: [0, 1, 0]))
    #expect(finding.tied == [0, 1, 2])
    #expect(finding.runnerUp == nil)
  }

  @Test func aDifferenceOfOnePercentIsNotCalledOne() throws {
    let finding = try #require(Finding([series(0.0100, noise: 1e-5, seed: 1), series(0.0101, noise: 1e-5, seed: 2)]))
    #expect(finding.winner == nil)
  }

  @Test func nothingMeasuredIsNoFinding() {
    #expect(Finding([]) == nil)
    #expect(Finding([[], []]) == nil)
  }

  @Test func theSentenceNamesTheWinnerAndByHowMuch() throws {
    let start = try #require(Finding([series(0.1, seed: 1), series(0.4, seed: 2), series(0.2, seed: 3)]))
    let warm = try #require(Finding([series(0.010, seed: 1), series(0.030, seed: 2), series(0.020, seed: 3)]))
    let verdict = Verdict(labels: labels, start: start, warm: warm, load: nil)
    let text = try #require(verdict.sentences.first)
    #expect(verdict.winner == 0)
    #expect(text.hasPrefix("One photo: pick cpu-only, which answers"))
    #expect(text.contains("× sooner than the next, all"))
    #expect(text.contains("once warm, cpu-only takes"))
  }

  @Test func aTieSaysThatNoDifferenceWasMeasured() throws {
    let rounds = [series(0.1, noise: 0.4, seed: 4), series(0.5, seed: 5), series(0.1, noise: 0.4, seed: 6)]
    let finding = try #require(Finding(rounds))
    let verdict = Verdict(labels: labels, start: finding, warm: finding, load: nil)
    #expect(verdict.winner == nil)
    #expect(verdict.text.contains("no difference measured"))
    #expect(verdict.text.contains("cpu-only (") && verdict.text.contains("and all ("))
    #expect(verdict.text.contains("than the next, vulkan:0"))
    #expect(!verdict.text.contains("pick"))
  }

  @Test func aStreamPrefersWhoeverServesMoreFrames() throws {
    let served = try #require(Finding([series(0.05, seed: 1), series(0.033, seed: 2)]))
    // The one that drops frames answers the few it takes a little sooner.
    let latency = try #require(Finding([series(0.020, seed: 3), series(0.025, seed: 4)]))
    let load = SustainedFinding(framesPerSecond: 30, served: served, latency: latency, droppedShare: [0.33, 0])
    let verdict = Verdict(labels: ["a", "b"], start: latency, warm: latency, load: load)
    #expect(verdict.winner == 1)
    #expect(verdict.sentences.last?.contains("pick b (keeps up") == true)
  }

  @Test func aStreamThatBothKeepUpWithPrefersTheSoonerAnswer() throws {
    let even = [Double](repeating: 1.0 / 30, count: 8)
    let served = try #require(Finding([even, even]))
    let latency = try #require(Finding([series(0.020, seed: 3), series(0.010, seed: 4)]))
    let load = SustainedFinding(framesPerSecond: 30, served: served, latency: latency, droppedShare: [0, 0])
    let verdict = Verdict(labels: ["a", "b"], start: latency, warm: latency, load: load)
    #expect(verdict.winner == 1)
    #expect(verdict.sentences.count == 2)
  }

  @Test func oneConfigurationWinsAgainstNobody() throws {
    let finding = try #require(Finding([series(0.1, seed: 1)]))
    let verdict = Verdict(labels: ["cpu"], start: finding, warm: finding, load: nil)
    #expect(verdict.winner == nil)
    #expect(verdict.best == 0)
    #expect(!verdict.text.contains("pick"))
  }

  /// Two configurations that are equal, each with noise of its own whose neighbours correlate, and with a common drift
  /// of the machine: how often one is called the winner.
  @Test(arguments: [(0.0, 0.05), (0.5, 0.05), (0.8, 0.05), (0.5, 0.2)])
  func equalConfigurationsAreSeldomCalledDifferent(correlation: Double, noise: Double) throws {
    var random = SeededGenerator(seed: 7)
    func normal() -> Double {
      // Twelve uniform numbers make a good enough bell.
      (0..<12).reduce(-6.0) { sum, _ in sum + random.unit() }
    }
    func series(_ count: Int) -> [Double] {
      var state = normal()
      return (0..<count).map { _ in
        defer { state = correlation * state + (1 - correlation * correlation).squareRoot() * normal() }
        return state
      }
    }
    let runs = 400
    var wrong = 0
    for _ in 0..<runs {
      let machine = series(12)
      let rounds = (0..<2).map { _ in
        zip(series(12), machine).map { 0.01 * max(0.1, 1 + noise * $0 + 2 * noise * $1) }
      }
      if try #require(Finding(rounds)).winner != nil { wrong += 1 }
    }
    // Five of a hundred are promised for independent noise; twelve rounds cannot tell how much neighbours correlate.
    let limit = correlation > 0.6 ? 0.28 : correlation > 0 ? 0.14 : 0.05
    #expect(Double(wrong) <= limit * Double(runs), "\(wrong) of \(runs)")
  }
}
