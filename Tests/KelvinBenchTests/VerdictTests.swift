import KelvinBasics
import KelvinBench
import KelvinThermal
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

  @Test func disturbedRoundsAreExcludedWhileEnoughRemain() throws {
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

  @Test func equalPlansAreNotRanked() throws {
    let level = series(0.0101, noise: 0.06, seed: 4)
    let rounds = [level, series(0.010, noise: 0.06, seed: 23), level.map { $0 * 1.05 }]
    let finding = try #require(Finding(rounds, plans: [0, 1, 0]))
    #expect(finding.tied == [0, 1, 2])
    #expect(finding.runnerUp == nil)
  }

  @Test func onePercentIsNotADifference() throws {
    let finding = try #require(Finding([series(0.0100, noise: 1e-5, seed: 1), series(0.0101, noise: 1e-5, seed: 2)]))
    #expect(finding.winner == nil)
  }

  @Test func emptyMeasurementsGiveNoFinding() {
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

  @Test func tieStatesThatNoDifferenceWasMeasured() throws {
    let rounds = [series(0.1, noise: 0.4, seed: 4), series(0.5, seed: 5), series(0.1, noise: 0.4, seed: 6)]
    let finding = try #require(Finding(rounds))
    let verdict = Verdict(labels: labels, start: finding, warm: finding, load: nil)
    #expect(verdict.winner == nil)
    #expect(verdict.text.contains("no difference measured"))
    #expect(verdict.text.contains("cpu-only (") && verdict.text.contains("and all ("))
    #expect(verdict.text.contains("than the next, vulkan:0"))
    #expect(!verdict.text.contains("pick"))
  }

  @Test func streamPrefersMoreServedFrames() throws {
    let served = try #require(Finding([series(0.05, seed: 1), series(0.033, seed: 2)]))
    // The one that drops frames answers the few it takes a little sooner.
    let latency = try #require(Finding([series(0.020, seed: 3), series(0.025, seed: 4)]))
    let load = SustainedFinding(
      framesPerSecond: 30, served: served, latency: latency,
      outcomes: [.init(answered: 600, dropped: 300), .init(answered: 900)])
    let verdict = Verdict(labels: ["a", "b"], start: latency, warm: latency, load: load)
    #expect(verdict.winner == 1)
    #expect(verdict.sentences.last?.contains("pick b (keeps up") == true)
  }

  @Test func outcomeCountsEveryFrameThatWasNotAnswered() {
    var outcome = SustainedOutcome(answered: 787, dropped: 43, skipped: 170, skippedSince: 49)
    #expect(
      outcome.text(framesPerSecond: 60)
        == "answers 47.2 of 60.0 frames/s (17.0 % left out for heat since 49.0 s, 4.3 % dropped)")
    #expect(SustainedOutcome(answered: 5).text(framesPerSecond: 60) == "keeps up")
    let dropping = SustainedOutcome(answered: 9, dropped: 1)
    #expect(dropping.text(framesPerSecond: 30) == "answers 27.0 of 30.0 frames/s (10.0 % dropped)")
    #expect(outcome.heatText == nil)
    outcome.heat = .init(state: .fair, since: 3, headroom: 0.8)
    #expect(outcome.heatText == nil)
    outcome.heat = .init(state: .critical, since: 123, headroom: 1.07)
    #expect(outcome.heatText == "heat critical since 2 min 3 s, headroom up to 1.07")
  }

  @Test func streamPrefersLowerLatencyWhenBothKeepUp() throws {
    let even = [Double](repeating: 1.0 / 30, count: 8)
    let served = try #require(Finding([even, even]))
    let latency = try #require(Finding([series(0.020, seed: 3), series(0.010, seed: 4)]))
    let load = SustainedFinding(
      framesPerSecond: 30, served: served, latency: latency,
      outcomes: [.init(answered: 900), .init(answered: 900)])
    let verdict = Verdict(labels: ["a", "b"], start: latency, warm: latency, load: load)
    #expect(verdict.winner == 1)
    #expect(verdict.sentences.count == 2)
  }

  @Test func singleConfigurationHasNoWinner() throws {
    let finding = try #require(Finding([series(0.1, seed: 1)]))
    let verdict = Verdict(labels: ["cpu"], start: finding, warm: finding, load: nil)
    #expect(verdict.winner == nil)
    #expect(verdict.best == 0)
    #expect(!verdict.text.contains("pick"))
  }

  @Test func anInterruptedQuestionIsNotCompared() throws {
    let rounds = [series(0.010, seed: 1), series(0.030, seed: 2)]
    let finding = try #require(Finding(rounds, isComplete: false))
    #expect(finding.winner == nil)
    let verdict = Verdict(labels: ["a", "b"], start: nil, warm: finding, load: nil, interruption: "interrupted")
    #expect(verdict.text.contains("once warm, not compared (interrupted): a ("))
    #expect(!verdict.text.contains("no difference"))
  }

  @Test func tooFewRoundsAreNotCompared() throws {
    let finding = try #require(Finding([series(0.010, seed: 1, count: 5), series(0.030, seed: 2, count: 5)]))
    let verdict = Verdict(labels: ["a", "b"], start: finding, warm: nil, load: nil)
    #expect(verdict.text.contains("not compared (5 rounds, a comparison needs 6) to the first answer"))
  }

  @Test func scatteredRoundsAreNotCompared() throws {
    let processor = [0.0393, 0.0377, 0.0386, 0.0412, 0.0422, 0.0431]
    let driver = [1.895, 0.598, 1.057, 0.586, 0.702, 0.879]
    let finding = try #require(Finding([driver, processor], level: 0.0125))
    #expect(finding.winner == nil && finding.best == 1 && !finding.isDecided)
    let text = Verdict(labels: ["card", "cpu"], start: finding, warm: nil, load: nil).text
    #expect(
      text.contains(
        "not compared (6 rounds, which scatter so that not even a tenfold difference is sure to be seen; measure more "
          + "rounds, or on a quiet machine) to the first answer: card ("))
    #expect(!text.contains("no d"))
    let nearer = try #require(Finding([[0.038, 0.045, 0.036, 0.046, 0.041, 0.039], processor], level: 0.0125))
    let nearerText = Verdict(labels: ["card", "cpu"], start: nearer, warm: nil, load: nil).text
    #expect(nearerText.contains("not compared (6 rounds, which scatter so that only a difference of "))
    #expect(nearerText.contains(" would have been seen in 8 of 10 runs) to the first answer: "))
    // The same question, where one of three differs and two are equal.
    let three = try #require(Finding([driver, processor, processor.map { $0 * 100 }], level: 0.0125))
    #expect(three.tied == [0, 1] && three.refusal != nil)
  }

  @Test func tieStatesTheDetectableDifference() throws {
    let finding = try #require(Finding([series(0.010, noise: 0.1, seed: 1), series(0.010, noise: 0.1, seed: 2)]))
    #expect(finding.winner == nil)
    let difference = try #require(finding.detectable)
    #expect(difference > 0.02 && difference < 0.5)
    let text = Verdict(labels: ["a", "b"], start: nil, warm: finding, load: nil).text
    #expect(text.contains(" % would have been seen in 8 of 10 runs"))
    let clear = try #require(Finding([series(0.010, seed: 1), series(0.030, seed: 2)]))
    #expect(clear.detectable == nil)
  }

  @Test func verdictStatesDisturbedRounds() throws {
    let rounds = [series(0.010, seed: 1), series(0.030, seed: 2)]
    let busy = try #require(Finding(rounds, isDisturbed: (0..<12).map { $0 < 9 }))
    #expect(busy.winner == 0 && busy.disturbedCounted == 9)
    let text = Verdict(labels: ["a", "b"], start: nil, warm: busy, load: nil).sentences.last
    #expect(
      text?.contains("Other processes took processor time in 9 of the 12 rounds behind the warm latencies") == true)
    let quiet = try #require(Finding(rounds, isDisturbed: (0..<12).map { $0 < 3 }))
    #expect(quiet.disturbedCounted == 0)
    #expect(!Verdict(labels: ["a", "b"], start: nil, warm: quiet, load: nil).text.contains("Other processes"))
  }
}
